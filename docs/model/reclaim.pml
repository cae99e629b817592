/* Reclaiming shard s to shard to. Code: shard/reclaim.go, appendRun of shard/queue.go. */

reclaim: /* Reclaim */
	atomic {
		if
		:: token[s] == 0 || BUG == TOKENLESS -> token[s] = 1
		:: else -> goto main
		fi
	}
	if
	:: sn[s] > 0 -> goto known
	:: else
	fi;
	/* seal */
	if
	:: L(limbo[s]) == NONE -> goto release
	:: else
	fi;
#if BUG == TAG_FIRST
	d_step { r = E }
	ADVANCE;
#endif
	d_step {
		w = limbo[s]; limbo[s] = EMPTY;
		WALK(L(w), G(w), WAITING, SEALED, limbo_chain);
		stop[s] = L(w); sturned[s] = NONE; sn[s] = G(w); w = 0
	}
#if BUG != TAG_FIRST
	d_step { r = E }
	ADVANCE;
#endif
	stag[s] = r;
known:
#if BUG == NO_GRACE
	goto drain;
#endif
	if
	:: PASSED(stag[s], S) -> goto drain
	:: else
	fi;
	if
	:: !scan -> goto release
	:: PASSED(stag[s], S) -> goto drain /* Passed looks for itself */
	:: else
	fi;
	after = RELEASE;
	goto frontier;
frontier_known:
	if
	:: PASSED(stag[s], m) -> goto drain
	:: else -> goto release
	fi;

drain:
	cnt = MOST; rn = 0; after = RELEASE;
#if FIFO
	/* drainToQueue: turn the batch round */
	do
	:: cnt > 0 && stop[s] != NONE ->
		d_step { i = stop[s]; w = word[i] }
		d_step {
			EARLY(I1, place[i] == SEALED);
			SETW(i, W(G(w), sturned[s]));
			stop[s] = L(w); sturned[s] = i; cnt--
		}
	:: else -> break
	od;
	if
	:: stop[s] != NONE -> goto release
	:: else
	fi;
#else
#if PLAIN
	/* splice */
	if
	:: free[to] != EMPTY -> goto visit
	:: else
	fi;
#if BUG == WORN_SWAPPED
	d_step { x = spent }
	if
	:: exhausted != x -> x = 0; goto visit
	:: else -> x = 0
	fi;
#else
	d_step { x = exhausted }
	if
	:: spent != x -> x = 0; goto visit
	:: else -> x = 0
	fi;
#endif
	d_step { w = word[stop[s]] }
	atomic {
		if
		:: free[to] == EMPTY ->
#if BUG == HEAD_UNTAGGED
			w = 0;
#endif
			free[to] = W(G(w), stop[s]);
			WALKFREE(stop[s], sn[s], SEALED);
			sn[s] = 0;
			goto release
		:: else
		fi
	}
visit:
#endif
#endif
	/* reclaimOne, and clean, which is where a guard that saw the slot would suffer */
	do
	:: cnt > 0 && sn[s] > 0 ->
		d_step {
			cnt--; sn[s]--;
#if FIFO
			i = sturned[s]; w = word[i]; sturned[s] = L(w);
#else
			i = stop[s]; w = word[i]; stop[s] = L(w);
#endif
			CHECK(owned_once, place[i] == SEALED);
			CHECK(unseen, seen[i] == 0);
			place[i] = HELD + me
		}
		if
		:: G(w) != SPENT ->
			if
			:: rn == 0 -> first = W(G(w), i)
			:: rn > 0 && L(lastw) != i && BUG != RUN_UNLINKED -> d_step { SETW(last, W(G(lastw), i)) }
			:: else
			fi;
			d_step { last = i; lastw = w; rn++ }
		:: else ->
			d_step { SETW(i, W(SPENT, NONE)); place[i] = GONE }
			d_step { exhausted++ }
		fi
	:: else -> break
	od;
	if
	:: rn == 0 -> goto release
	:: else
	fi;
#if FIFO
	/* appendRun */
#if BUG != APPEND_OPEN
	if
	:: L(lastw) != NONE -> d_step { SETW(last, W(G(lastw), NONE)) }
	:: else
	fi;
#endif
	d_step { w = word[tail[s]] }
	d_step {
		EARLY(I1, place[tail[s]] == FREED && L(word[tail[s]]) == NONE);
		SETW(tail[s], W(G(w), L(first))); /* P3 */
		WALKFREE(L(first), rn, HELD + me);
		tail[s] = last
	}
#else
	goto pushrun;
#endif
release:
	atomic {
		if
		:: sn[s] == 0 -> stop[s] = 0; sturned[s] = 0; stag[s] = 0 /* dead: fewer states */
		:: else
		fi;
		token[s] = 0
	}
	goto main
