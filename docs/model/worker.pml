/* A Worker's own steps. Code: shard/magazine.go and bag.go; REACH is its reach less a
 * batch. */

worker_insert: /* Next, Claim */
	if
	:: nready > 0 ->
		d_step { nready--; h = ready[nready]; ready[nready] = 0; i = L(h) }
		goto built
	:: nready == 0 && wnext < wend ->
		d_step { i = wnext; wnext++; h = W(1, i) }
		goto built
	:: nready == 0 && wnext == wend && WANTED > 0 -> goto poprun
	:: nready == 0 && wnext == wend && WANTED == 0 -> goto pop
	fi

worker_remove: /* Remove: one compare-and-swap, from any handle that may be guessed */
	atomic {
		CHOOSE_SLOT;
		if
		:: L(WORD(i)) != i -> goto main
		:: else
		fi;
		FENCED;
		if
		:: L(word[i]) == i && G(word[i]) < LAST && nbag < room ->
			h = word[i];
			EARLY(I4, ODD(h));
			CHECK(removed_once, place[i] == LIVING);
			SETW(i, W(G(h) + 1, bagtop));
			place[i] = HELD + me;
#if BUG == STAMP_OF_FIRST
			bagstamp = (nbag == opened -> E : bagstamp);
#endif
			bag[nbag] = h; nbag++; bagtop = i;
			goto main
		:: L(word[i]) == i && (G(word[i]) >= LAST || nbag >= room) -> goto remove
		:: else -> goto main
		fi
	}

turn:	/* turn; seal */
	if
	:: opened < nbag ->
#if BUG == STAMP_OF_FIRST
		r = bagstamp;
#else
		d_step { r = E }
#endif
		if
		:: nparts < NB -> pstamp[nparts] = r; pend[nparts] = nbag; nparts++
		:: else -> pend[NB - 1] = nbag;
#if BUG != PART_OLD
			pstamp[NB - 1] = r
#endif
		fi;
		opened = nbag; r = 0
	:: else
	fi;
	if
	:: nready + (wend - wnext) + nbag > REACH -> goto retire_bag
	:: else
	fi;
	/* pass */
#if BUG == TURN_UNCHECKED
	goto turn_passed;
#endif
	r = pstamp[nparts - 1];
	if
	:: PASSED(r, S) -> goto turn_passed
	:: else -> after = TURN; goto over
	fi;
turn_waits:
	cnt = 0;
	do
	:: cnt < nparts ->
		if
		:: PASSED(pstamp[cnt], S) -> cnt++
		:: else -> break
		fi
	:: else -> break
	od;
	goto reuse;
turn_passed:
	cnt = nparts;
reuse:	/* reuse of cnt parts, makeRoom */
	atomic {
		x = (cnt > 0 -> pend[cnt - 1] : 0); g = 0;
		do
		:: g < x ->
			CHECK(unseen, seen[L(bag[g])] == 0);
			ready[nready] = bag[g] + 16; nready++; g++
		:: else -> break
		od;
		nbag = nbag - x; opened = opened - x; g = 0;
		do
		:: g < REACH + PART -> bag[g] = (g < nbag -> bag[g + x] : 0); g++
		:: else -> break
		od;
		nparts = nparts - cnt; g = 0;
		do
		:: g < NB -> pstamp[g] = (g < nparts -> pstamp[g + cnt] : 0); pend[g] = (g < nparts -> pend[g + cnt] - x : 0); g++
		:: else -> break
		od;
		g = 0;
		bagtop = (nbag > 0 -> bagtop : NONE);
		room = REACH + PART - nready - (wend - wnext);
		room = (opened + PART < room -> opened + PART : room)
	}
	goto main

retire_bag: /* retireBag: emptyBag, all as one part */
	atomic {
		ctop = bagtop; ctail = bag[0] + 8; cn = nbag;
		do
		:: nbag > 0 -> nbag--; bag[nbag] = 0
		:: else -> break
		od;
		do
		:: nparts > 0 -> nparts--; pstamp[nparts] = 0; pend[nparts] = 0
		:: else -> break
		od;
		bagtop = NONE; opened = 0; room = PART
	}
	goto push_limbo
