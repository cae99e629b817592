/* Guards and the frontier. Code: epoch/domain.go, cell.go, block.go, mark.go and
 * guard.go. The second array of cells is a block, one group with its mark. */

guard:	/* Pin, a look, Unpin */
	atomic { e = E }
#if BUG == LOOK_FIRST
	LOOK;
#endif
claim:	/* any cell that is idle: a hint may be any number */
	if
	:: atomic { c = 0; do :: c < C1 - 1 -> c++ :: break od }
#if C2
	:: linked2 -> goto claim2
#if !LINKED
	/* pinSlow: a block with a claimed cell, which nobody sees, is appended */
	:: !linked2 ->
		atomic {
			if
			:: !linked2 -> linked2 = 1; mark2 = MARKSET; c = C1; cell[c] = 2 * e + 1; goto pinned
			:: else -> goto claim2
			fi
		}
#endif
#endif
	fi;
	goto claim_cell;
#if C2
claim2:	/* block.pin */
	atomic { c = C1; do :: c < CELLS - 1 -> c++ :: break od }
#endif
claim_cell:
	if
	:: cell[c] != 0 -> goto claim
	:: else
	fi;
	atomic {
		if
		:: cell[c] == 0 || BUG == CLAIM_STORES -> cell[c] = 2 * e + 1 /* P4 */
		:: else -> goto claim
		fi
	}
#if C2 && BUG != MARK_LATE
	if
	:: c >= C1 -> MARK
	:: else
	fi;
#endif
pinned:
#if BUG != LOOK_FIRST
	LOOK;
#endif
#if BUG == MARK_LATE
	if
	:: c >= C1 -> MARK; skip /* Spin allows no jump into the d_step below */
	:: else
	fi;
	skip;
#endif
	d_step { /* Unpin (P5) */
		EARLY(own_cell, cell[c] == 2 * e + 1);
		cell[c] = 0; g = 0;
		do
		:: g < SLOTS -> seen[g] = seen[g] & ~(1 << me); g++
		:: else -> break
		od;
		g = 0
	}
	goto main

frontier: /* Frontier; m is its result */
#if BUG == E_LATE
	m = 31;
#else
	atomic { m = E }
#endif
	c = 0;
	do
	:: c < C1 -> SCAN_CELL
	:: else -> break
	od;
#if C2
	if
	:: linked2 ->
		atomic { w = mark2 } /* census.visitMark */
		if
		:: MARKSTATE(w) != CLEAR ->
			SCAN_BLOCK;
			if
			:: !busy ->
				atomic {
					if
					:: mark2 == w -> w = CHANGED(w, DOUBTED); mark2 = w
					:: else -> goto visited
					fi
				}
#if BUG != CLEAR_ONCE
				SCAN_BLOCK;
#endif
				if
				:: !busy -> d_step { if :: mark2 == w -> mark2 = CHANGED(w, CLEAR) :: else fi }
				:: else
				fi
			:: else
			fi
		:: else
		fi
	:: else
	fi;
visited:
	w = 0; busy = 0;
#endif
#if BUG == E_LATE
	atomic { m = (E < m -> E : m) }
#endif
raise:
	atomic { x = S }
	if
	:: x >= m -> m = x
	:: else ->
		atomic {
			if
			:: S == x || BUG == S_STORED ->
				EARLY(S_grows, m >= S);
				EARLY(S_below_E, m <= E);
				S = m /* P6 */
			:: else -> goto raise
			fi
		}
	fi;
	x = 0;
	if
#if WORKERS
	:: after == TURN -> goto turn_passed
#endif
	:: else -> goto frontier_known
	fi
