/* Removing. Code: shard/limbo.go. A remover may name any incarnation, a guessed one
 * included. A name that does not match at the first load changes nothing, so the choice is
 * among those that match: the low half of the word is the slot's index. */

remove:	/* Remove: unlink, vacate */
#if BUG == LIMBO_FIRST
	atomic { wseen = limbo[sh] }
#endif
	atomic {
		CHOOSE_SLOT;
		if
		:: L(WORD(i)) == i -> h = WORD(i); EARLY(I4, ODD(h))
		:: else -> goto main
		fi
	}
#if BUG != LIMBO_FIRST
	d_step { wseen = limbo[sh] }
#endif
	atomic {
		FENCED;
		if
		:: word[i] == h || BUG == REMOVE_STORES ->
			CHECK(removed_once, place[i] == LIVING);
			SETW(i, W(G(h) + 1, L(wseen)));
			place[i] = HELD + me
		:: else -> goto main
		fi
	}
	if
	:: G(h) >= LAST || (G(wseen) + 1) % BATCH == 0
	:: else ->
		atomic {
			FENCED;
			if
			:: limbo[sh] == wseen ->
				limbo[sh] = W(G(wseen) + 1, i);
				WALK(i, 1, HELD + me, WAITING, limbo_chain);
				goto main
			:: else
			fi
		}
	fi;
	/* retire */
#if BUG != WORN_LATE
	if
	:: G(h) >= LAST -> d_step { FENCED; spent++ }
	:: else
	fi;
#endif
retire:
	atomic {
		FENCED;
		if
		:: limbo[sh] == wseen ->
			limbo[sh] = W(G(wseen) + 1, i);
			WALK(i, 1, HELD + me, WAITING, limbo_chain);
			goto retired
		:: else
		fi
	}
	d_step { wseen = limbo[sh] }
#if BUG != RETIRE_ONCE
	d_step {
		ROOM;
		EARLY(I1, place[i] == HELD + me);
		PUTW(i, W(G(h) + 1, L(wseen)))
	}
#endif
	goto retire;
retired:
#if BUG == WORN_LATE
	if
	:: G(h) >= LAST -> d_step { FENCED; spent++ }
	:: else
	fi;
#endif
	if
	:: (G(wseen) + 1) % BATCH == 0 -> s = sh; effort = SCAN; HELPED; goto reclaim
	:: else -> goto main
	fi

abandon: /* Abandon of slot i, handed out as h */
	atomic {
		ROOM;
		EARLY(I1, place[i] == HELD + me);
#if BUG == BURN_NOTHING
		lastw = W(G(h) - 1, NONE);
		first = W(G(lastw), i); last = i; rn = 1; to = sh; after = 0; from = HELD + me;
		PUTW(i, lastw)
#else
		PUTW(i, W(G(h) + 1, NONE));
		ctop = i; ctail = W(G(h) + 1, i); cn = 1
#endif
	}
#if BUG == BURN_NOTHING
	goto push;
#endif
	if
	:: G(h) >= LAST -> d_step { FENCED; spent++ }
	:: else
	fi;
	goto push_limbo

push_limbo: /* retireChain, pushLimbo of cn slots from ctop on; ctail is the last one's generation and index */
#if BUG == CHAIN_ONCE
	atomic { wseen = limbo[sh]; SETW(L(ctail), W(G(ctail), L(wseen))) }
#endif
push_limbo_again:
	atomic { wseen = limbo[sh] }
#if BUG != CHAIN_ONCE
	d_step {
		ROOM;
		EARLY(I1, place[L(ctail)] == HELD + me);
		PUTW(L(ctail), W(G(ctail), L(wseen)))
	}
#endif
	atomic {
		FENCED;
		if
		:: limbo[sh] == wseen ->
			limbo[sh] = W(G(wseen) + cn, ctop);
			WALK(ctop, cn, HELD + me, WAITING, limbo_chain)
		:: else -> goto push_limbo_again
		fi
	}
	if
	:: G(wseen) / BATCH != (G(wseen) + cn) / BATCH -> s = sh; effort = SCAN; HELPED; goto reclaim
	:: else -> goto main
	fi
