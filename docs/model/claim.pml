/* An insertion that has found no slot. Code: claimSlow, refusal and bare of
 * shard/claim.go. Its reclaiming before is another operation here. */

none_found: /* claimSlow; a magazine gives up its bag */
#if WORKERS
	if
	:: nbag > 0 -> goto retire_bag
	:: else
	fi;
#endif
#if LOOKS
	/* bare: x counts scans; lo adds up the seals, hi is their sum in the first scan */
	atomic { none = none & ~(1 << me); TAKEN; x = 0 }
look:
	q = 0; lo = 0;
	do
	:: q < NSH ->
		d_step { lo = lo + seals[q] }
		d_step { w = limbo[q] }
		d_step { w = G(w) + waits[q] }
		if
		:: w > 0 -> goto main
		:: else
		fi;
		d_step { w = fresh[q]; w = G(w) < L(w) }
		if
		:: w > 0 -> goto main
		:: else
		fi;
		d_step { top = free[q] }
#if FIFO
		d_step { w = WORD(L(top)) }
		if
		:: w != W(G(top), NONE) -> goto main
		:: else
		fi;
#else
		if
		:: top != EMPTY -> goto main
		:: else
		fi;
#endif
		top = 0; w = 0; q++
	:: else -> break
	od;
	if
	:: x == 0 -> hi = lo
	:: else
	fi;
	x++;
	if
	:: x < LOOKS - (BUG == LOOKS_TWICE) -> goto look
	:: x >= LOOKS - (BUG == LOOKS_TWICE) && (lo != hi || tnext < SLOTS - FIFO * NSH) -> goto main
	:: else
	fi;
	CHECK(true_refusal, none & (1 << me))
#endif
	goto main
