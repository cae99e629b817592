/* A Worker's own steps; its bag is also the Chain of a batch. Code: pool/worker.go. */

worker_insert:
	if
	:: nready > 0 ->
		d_step { nready--; h = ready[nready]; ready[nready] = 0; i = L(h) }
		goto built
	:: nready == 0 && wnext < wend ->
		d_step { i = wnext; wnext++; h = W(1, i) }
		goto built
	:: else -> goto poprun
	fi

worker_remove: /* Remove: one compare-and-swap, from any handle that may be guessed */
	atomic {
		CHOOSE_SLOT;
		if
		:: L(word[i]) == i && G(word[i]) < LAST ->
			h = word[i];
			EARLY(I4, ODD(h));
			CHECK(removed_once, place[i] == LIVING);
			SETW(i, W(G(h) + 1, bagtop));
			place[i] = HELD + me;
			bag[nbag] = h; nbag++; bagtop = i;
			goto main
		:: L(word[i]) == i && G(word[i]) >= LAST -> goto remove
		:: else -> goto main
		fi
	}

turn:	/* the bag becomes ready, or goes to limbo */
	if
	:: nready + (wend - wnext) + nbag > REACH -> goto retire_bag
	:: else
	fi;
#if BUG == TURN_UNCHECKED
	goto turn_now;
#endif
#if BUG == TAG_OF_FIRST
	r = bagtag;
#else
	d_step { r = E }
#endif
	ADVANCE;
	if
	:: PASSED(r, S) -> goto turn_now
	:: else
	fi;
	after = TURN;
	goto frontier;
turn_passed:
	if
	:: PASSED(r, m)
	:: else -> goto retire_bag
	fi;
turn_now:
	atomic {
		do
		:: nbag > 0 ->
			nbag--;
			CHECK(unseen, seen[L(bag[nbag])] == 0);
			ready[nready] = bag[nbag] + 16; nready++; bag[nbag] = 0
		:: else -> break
		od;
		bagtop = NONE
	}
	goto main

retire_bag: /* ChainOf, RetireChain */
	atomic {
		ctop = bagtop; ctail = bag[0] + 8; cn = nbag;
		do
		:: nbag > 0 -> nbag--; bag[nbag] = 0
		:: else -> break
		od;
		bagtop = NONE
	}
	goto pushchain
