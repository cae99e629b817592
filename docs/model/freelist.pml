/* The freelist. Code: shard/stack.go, and queue.go for Pop's dummy; giveBack of bag.go
 * and empty of magazine.go. In: q the shard. FIFO prefers fresh slots. */

pop:	/* Pop */
	atomic {
		top = free[q];
		if
		:: L(top) == NONE && FIFO -> goto refill
		:: L(top) == NONE && !FIFO -> goto take_fresh
		:: else
		fi
	}
	atomic {
		i = L(top); w = WORD(i); next = L(w);
		if
		:: BUG != HEAD_UNTAGGED && G(w) != G(top) -> goto pop
		:: else
		fi;
		if
		:: next != NONE
		:: next == NONE && FIFO -> goto refill /* the dummy stays */
		:: next == NONE && !FIFO -> rest = EMPTY; goto pop_swap
		fi
	}
	d_step {
#if BUG == REST_UNREAD
		rest = W(G(top), next)
#elif BUG == HEAD_UNTAGGED
		rest = next
#else
		rest = W(G(WORD(next)), next)
#endif
	}
pop_swap:
	atomic {
		FENCED;
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
			place[i] = HELD + me; TAKEN;
			h = W(G(top) + 1, i);
			goto built
		:: else -> goto pop
		fi
	}

#if WORKERS
poprun:	/* popRun of up to WANTED slots, for a Worker's Claim */
	atomic {
		top = free[q]; i = L(top); cnt = 0;
		if
		:: i == NONE -> goto freshrun
		:: else
		fi
	}
	do
	:: cnt < WANTED && i != NONE -> d_step { i = L(WORD(i)); cnt++ }
	:: else -> break
	od;
	if
	:: i != NONE -> d_step { rest = W(G(WORD(i)), i) }
	:: else -> rest = EMPTY
	fi;
	atomic {
		FENCED;
		if
		:: free[q] == top ->
			free[q] = rest;
			WALK(L(top), cnt, FREED, HELD + me, owned_once);
			TAKEN;
			i = L(top); nready = cnt
		:: else -> goto poprun
		fi
	}
	do
	:: cnt > 0 ->
		d_step {
			cnt--; w = WORD(i);
			CHECK(unseen, seen[i] == 0);
			ready[cnt] = W(G(w) + 1, i); i = L(w); w = 0
		}
	:: else -> break
	od;
	goto worker_insert
;
#endif

push:	/* push of the rn slots from first to last, whose word is lastw, on free[to] */
#if BUG == TAIL_ONCE
	atomic {
		top = free[to];
		if
		:: L(lastw) != L(top) -> lastw = W(G(lastw), L(top)); SETW(last, lastw)
		:: else
		fi
	}
#endif
push_again:
	atomic { top = free[to] }
#if BUG != TAIL_ONCE
	if
	:: L(lastw) != L(top) ->
		d_step {
			ROOM;
			lastw = W(G(lastw), L(top));
			EARLY(I1, place[last] == from);
			PUTW(last, lastw)
		}
	:: else
	fi;
#endif
	atomic {
		FENCED;
		if
		:: free[to] == top ->
#if BUG == HEAD_UNTAGGED
			first = L(first);
#endif
			free[to] = first; /* P3 */
			WALKFREE(L(first), rn, from)
		:: else -> goto push_again
		fi
	}
	if
	:: after == DELIVERED -> goto delivered
	:: else -> goto main
	fi

#if WORKERS
give_back: /* giveBack of the slot that has been ready for longest in the Worker */
	atomic {
		h = ready[0]; i = L(h); to = sh; after = 0; from = HELD + me; nready--; g = 0;
		do
		:: g < nready -> ready[g] = ready[g + 1]; g++
		:: else -> break
		od;
		ready[g] = 0; g = 0
	}
	if
	:: G(h) == LAST -> /* exhaust */
		d_step { FENCED; spent++ }
		d_step { ROOM; PUTW(i, W(SPENT, NONE)); place[i] = GONE }
		d_step { FENCED; exhausted++ }
		goto main
	:: else
	fi;
	d_step {
		ROOM;
#if BUG == RETURN_UNBURNT
		lastw = W(G(h) - 1, NONE);
#else
		lastw = W(G(h) + 1, NONE);
#endif
		first = W(G(lastw), i); last = i; rn = 1;
		EARLY(I1, place[i] == HELD + me);
		PUTW(i, lastw)
	}
	goto push

return_fresh: /* empty: a slot of the Worker's range keeps its generation */
	atomic {
		ROOM;
		i = wnext; wnext++; to = sh; after = 0; from = HELD + me;
		lastw = W(0, NONE); first = i; last = i; rn = 1;
		PUTW(i, lastw)
	}
	goto push
;
#endif
