/* The batches of shard s. Code: shard/batch.go. Their number, a hint in the code, is read
 * in one step. */

seal:	/* seal; emptyBatch, whose load and compare-and-swap are one step */
	b = s * NB;
empty_batch:
	atomic {
		if
		:: b == (s + 1) * NB -> b = 0; goto sealed
		:: else
		fi
	}
#if BUG == EMPTY_STORES
	if
	:: bword[b] != EMPTY -> b++; goto empty_batch
	:: else
	fi;
#endif
	atomic {
		FENCED;
		if
		:: bword[b] == EMPTY || BUG == EMPTY_STORES -> CLAIM
		:: else -> b++; goto empty_batch
		fi
	}
#if BUG != NUMBER_LATE
	d_step { FENCED; NUMBERED }
#endif
	LEFT(1)
#if BUG == STAMP_FIRST
	d_step { r = E }
	ADVANCE;
#endif
	d_step { /* P7 */
		FENCED;
		w = limbo[s]; limbo[s] = EMPTY;
		WALK(L(w), G(w), WAITING, SEALED, limbo_chain);
		btop[b] = L(w); bn[b] = G(w); bover[b] = 0; reversed[b] = NONE; inOrder[b] = 0; w = 0
	}
#if BUG == NUMBER_LATE
	d_step { FENCED; NUMBERED }
#endif
	if
	:: bn[b] == 0
	:: else ->
#if BUG != STAMP_FIRST
		atomic { r = E; LOOKAT(s); x = effort == KNOWN || allb > 1 && overb == 0 } /* guarded */
		if
		:: x -> ADVANCE
		:: else
		fi;
		x = 0;
#endif
		atomic { bstamp[b] = r; r = 0 }
	fi;
	LEFT(bn[b] - 1)
	LEAVE;
	known = known || effort == KNOWN; b = 0; r = 0;
sealed:
#if SYNC
	if
	:: syn && effort == KNOWN -> goto goal_sealed
	:: else
	fi;
#endif

passed:	/* passed, oldest */
	if
	:: cnt == 0 -> goto reclaimed
	:: else
	fi;
	b = s * NB; c = NB * NSH; w = 0; busy = 0;
	do
	:: b < (s + 1) * NB ->
		d_step {
			if
			:: bword[b] == CLAIMED -> busy = (effort == WAIT)
			:: L(bword[b]) != NONE && (c == NB * NSH || NUMBER(bword[b]) < NUMBER(w)) -> c = b; w = bword[b]
			:: else
			fi;
			b++
		}
	:: else -> break
	od;
	b = c; c = 0;
	if
	:: b < NB * NSH
	:: b == NB * NSH && busy -> goto passed
	:: b == NB * NSH && !busy -> goto reclaimed
	fi;
#if BUG == STAMP_UNCLAIMED
	r = bstamp[b]; top = w; w = 0; after = PASS;
	if
	:: PASSED(r, S) -> goto known_over
	:: else -> goto over
	fi;
known_over:
	atomic {
		FENCED;
		if
		:: L(bword[b]) == L(top) -> CLAIM; top = 0; goto move
		:: else -> top = 0; goto passed
		fi
	}
#else
	atomic {
		FENCED;
		if
#if BUG == UNCLAIMED
		:: bword[b] == w -> w = 0
#else
		:: bword[b] == w || BUG == TWO_OWNERS -> CLAIM; w = 0 /* P9 */
#endif
		:: else -> goto passed
		fi
	}
#if BUG == NO_GRACE
	goto move;
#endif
	atomic {
		if
		:: bover[b] || PASSED(bstamp[b], S) -> goto move
		:: effort != KNOWN && !(bover[b] || PASSED(bstamp[b], S)) -> r = bstamp[b]; after = PASS; goto over
		:: effort == KNOWN && !(bover[b] || PASSED(bstamp[b], S))
		fi
	}
#endif
not_over: /* batches sealed later have greater stamps */
	LEAVE;
	if
	:: busy -> goto passed
	:: else -> goto reclaimed
	fi;
