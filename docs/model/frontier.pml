/* Guards and the frontier. Code: epoch/domain.go, cell.go, block.go, mark.go and
 * guard.go. Cells are those of PinBrief. The second array of cells is a block, one group
 * with its mark. */

guard:	/* PinBrief, a look-up, UnpinBrief */
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
	/* pinSlow: a block that has a claimed cell from the start is appended */
	:: !linked2 ->
		atomic {
			FENCED;
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
	:: RD(CELLAT + c, cell[c]) != 0 -> goto claim
	:: else
	fi;
#if BUG == CLAIM_RELEASED
	d_step { ROOM; PUT(CELLAT + c, 2 * e + 1, cell[c]) }
#else
	atomic {
		FENCED;
		if
		:: cell[c] == 0 || BUG == CLAIM_STORES -> cell[c] = 2 * e + 1 /* P4 */
		:: else -> goto claim
		fi
	}
#endif
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
	d_step { /* P5, a release store; the reads are done now */
		ROOM;
		EARLY(own_cell, RD(CELLAT + c, cell[c]) == 2 * e + 1);
		PUT(CELLAT + c, 0, cell[c]); g = 0;
		do
		:: g < SLOTS -> seen[g] = seen[g] & ~(1 << me); g++
		:: else -> break
		od;
		g = 0
	}
	goto main

over:	/* Over of stamp r */
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
		atomic { w = mark2 } /* visitMark */
		if
		:: MARKSTATE(w) != CLEAR ->
			SCAN_BLOCK;
			if
			:: !found ->
				atomic {
					FENCED;
					if
					:: mark2 == w -> w = CHANGED(w, DOUBTED); mark2 = w
					:: else -> goto visited
					fi
				}
#if BUG != CLEAR_ONCE
				SCAN_BLOCK;
#endif
				if
				:: !found -> d_step { FENCED; if :: mark2 == w -> mark2 = CHANGED(w, CLEAR) :: else fi }
				:: else
				fi
			:: else
			fi
		:: else
		fi
	:: else
	fi;
visited:
	w = 0; found = 0;
#endif
	c = 0;
	if
	:: !met -> goto over_yes /* no guard, so none that saw the slot */
	:: else -> met = 0
	fi;
#if BUG == E_LATE
	atomic { m = (E < m -> E : m) }
#endif
raise:
	atomic { x = S }
	if
	:: x >= m -> m = x
	:: else ->
		atomic {
			FENCED;
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
	:: PASSED(r, m) -> goto over_yes
	:: else
	fi;
	ADVANCE; /* Advance */
	m = 0;
	if
#if WORKERS
	:: after == TURN -> goto turn_waits
#endif
#if BUG == STAMP_UNCLAIMED
	:: after == PASS -> top = 0; goto reclaimed
#else
	:: after == PASS -> goto not_over
#endif
	fi;
over_yes:
	m = 0;
	if
#if WORKERS
	:: after == TURN -> goto turn_passed
#endif
#if BUG == STAMP_UNCLAIMED
	:: after == PASS -> goto known_over
#else
	:: after == PASS -> goto move
#endif
	fi
