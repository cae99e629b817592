/* The freelist. Code: shard/freelist.go, and queue.go for Pop's dummy. In: q the
 * shard, checked: Pop (1) or Insert (0), which does not compare generations. */

pop:	/* Pop, Insert */
	atomic {
		top = free[q];
		if
		:: L(top) == NONE -> goto take_fresh
		:: else
		fi
	}
	atomic {
		i = L(top); w = word[i]; next = L(w);
		if
		:: BUG != HEAD_UNTAGGED && checked && G(w) != G(top) -> goto pop
		:: else
		fi;
		if
		:: next != NONE
		:: next == NONE && FIFO -> goto take_fresh /* the dummy stays */
		:: next == NONE && !FIFO -> rest = EMPTY; goto pop_swap
		fi
	}
	d_step {
#if BUG == REST_UNREAD
		rest = W(G(top), next)
#elif BUG == HEAD_UNTAGGED
		rest = next
#else
		rest = W(G(word[next]), next)
#endif
	}
pop_swap:
	atomic {
		if
		:: free[q] == top ->
			free[q] = rest; /* L1 */
#if BUG == HEAD_UNTAGGED
			top = W(G(w), i);
#endif
			CHECK(owned_once, place[i] == FREED);
			EARLY(true_tag, G(word[i]) == G(top));
			CHECK(unseen, seen[i] == 0);
			CHECK(spent_in_no_list, G(word[i]) < SPENT);
			place[i] = HELD + me;
			h = W(G(top) + 1, i);
			goto built
		:: else -> goto pop
		fi
	}

#if WORKERS
poprun:	/* PopRun of up to REACH slots, for a Worker, and fill */
	atomic {
		top = free[q]; i = L(top); cnt = 0;
		if
		:: i == NONE -> goto freshrun
		:: else
		fi
	}
	do
	:: cnt < REACH && i != NONE -> d_step { i = L(word[i]); cnt++ }
	:: else -> break
	od;
	if
	:: i != NONE -> d_step { rest = W(G(word[i]), i) }
	:: else -> rest = EMPTY
	fi;
	atomic {
		if
		:: free[q] == top ->
			free[q] = rest;
			WALK(L(top), cnt, FREED, HELD + me, owned_once);
			i = L(top); nready = cnt
		:: else -> goto poprun
		fi
	}
	do
	:: cnt > 0 ->
		d_step {
			cnt--; w = word[i];
			CHECK(unseen, seen[i] == 0);
			ready[cnt] = W(G(w) + 1, i); i = L(w); w = 0
		}
	:: else -> break
	od;
	goto main
;
#endif

pushrun: /* pushRun of the rn slots from first to last, whose word is lastw, on free[to] */
#if BUG == TAIL_ONCE
	atomic {
		top = free[to];
		if
		:: L(lastw) != L(top) -> lastw = W(G(lastw), L(top)); SETW(last, lastw)
		:: else
		fi
	}
#endif
pushrun_again:
	atomic { top = free[to] }
#if BUG != TAIL_ONCE
	if
	:: L(lastw) != L(top) ->
		d_step {
			lastw = W(G(lastw), L(top));
			EARLY(I1, place[last] == HELD + me);
			SETW(last, lastw)
		}
	:: else
	fi;
#endif
	atomic {
		if
		:: free[to] == top ->
#if BUG == HEAD_UNTAGGED
			first = L(first);
#endif
			free[to] = first;
			WALKFREE(L(first), rn, HELD + me)
		:: else -> goto pushrun_again
		fi
	}
	if
	:: after == RELEASE -> goto release
	:: else -> goto main
	fi

#if WORKERS
return_ready: /* Return of the first of what the Worker has ready */
	atomic {
		h = ready[0]; i = L(h); to = sh; after = 0; nready--;
		do
		:: g < nready -> ready[g] = ready[g + 1]; g++
		:: else -> break
		od;
		ready[g] = 0; g = 0
	}
	if
	:: G(h) == LAST ->
		d_step { spent++ }
		d_step { exhausted++ }
		d_step { SETW(i, W(SPENT, NONE)); place[i] = GONE }
		goto main
	:: else
	fi;
	d_step {
#if BUG == RETURN_UNBURNT
		lastw = W(G(h) - 1, NONE);
#else
		lastw = W(G(h) + 1, NONE);
#endif
		first = W(G(lastw), i); last = i; rn = 1;
		EARLY(I1, place[i] == HELD + me);
		SETW(i, lastw)
	}
	goto pushrun

return_fresh: /* ReturnFresh of a slot of the Worker's range */
	atomic {
		i = wnext; wnext++; to = sh; after = 0;
		lastw = W(0, NONE); first = i; last = i; rn = 1;
		SETW(i, lastw)
	}
	goto pushrun
;
#endif
