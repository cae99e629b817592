/* Reclaiming shard s to shard to, with an effort. Code: shard/reclaim.go; put, enqueue,
 * append, turn and splice of queue.go, without a reserve; splice of stack.go. */

reclaim: /* reclaim, due */
	atomic {
		cnt = MOST; LOOKAT(s);
		if
		:: G(limbo[s]) >= BATCH || L(limbo[s]) != NONE && (effort == WAIT || allb == 0) -> goto seal
		:: else -> goto passed
		fi
	}

move:	/* move; turn */
	atomic {
		bover[b] = 1; r = 0;
#if FIFO
		blast[b] = (reversed[b] == NONE && !inOrder[b] -> btop[b] : blast[b])
#endif
	}
#if FIFO
	do
	:: cnt > 0 && !inOrder[b] ->
		d_step { i = btop[b]; w = WORD(i) }
		d_step {
			ROOM;
			EARLY(I1, place[i] == SEALED);
			PUTW(i, W(G(w), reversed[b]));
			reversed[b] = i; btop[b] = L(w); cnt--;
			if
			:: btop[b] == NONE -> btop[b] = i; reversed[b] = NONE; inOrder[b] = 1
			:: else
			fi
		}
	:: else -> break
	od;
	i = 0; w = 0;
	if
	:: !inOrder[b] -> LEAVE; goto reclaimed
	:: else
	fi;
#endif
#if BUG == EMPTIED_EARLY
	d_step { FENCED; bword[b] = EMPTY }
#endif
#if PLAIN
#if LAST < 9
	/* mustVisit */
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
#endif
	/* splice */
#if FIFO
	d_step {
		first = W(G(WORD(btop[b])), btop[b]); last = blast[b]; lastw = W(G(WORD(last)), NONE);
		rn = bn[b]; from = SEALED
	}
	after = SPLICED;
	goto put;
#else
	if
	:: free[to] != EMPTY -> goto unspliced
	:: else
	fi;
	atomic {
		FENCED;
		if
		:: free[to] == EMPTY ->
			CHECK(owned_once, btop[b] < SLOTS);
			w = word[btop[b]];
#if BUG == HEAD_UNTAGGED
			w = 0;
#endif
			free[to] = W(G(w), btop[b]); /* P3 */
			WALKFREE(btop[b], bn[b], SEALED);
			hi = bn[b]; bn[b] = 0; w = 0;
			goto spliced
		:: else -> goto unspliced
		fi
	}
#endif
spliced:
	LEFT(-hi)
	LEAVE;
	hi = 0;
	goto passed;
unspliced: /* emptyBatches */
	atomic { LOOKAT(s); x = effort != WAIT && allb < NB }
	if
	:: x -> x = 0; LEAVE; goto reclaimed
	:: else
	fi;
#endif

visit:	/* visit, which a guard that saw the slot must not meet; x slots are left to visit */
	atomic { x = (bn[b] < cnt -> bn[b] : cnt); hi = x; NO_RUN; top = btop[b] }
	do
	:: x > 0 ->
		d_step {
			x--; cnt--;
			i = top; w = WORD(i); top = L(w);
			CHECK(owned_once, i < SLOTS);
			CHECK(owned_once, place[i] == SEALED);
			CHECK(unseen, seen[i] == 0);
			place[i] = MOVING + me
		}
		if
		:: G(w) != SPENT ->
			if
			:: rn == 0 -> first = W(G(w), i)
			:: rn > 0 && L(lastw) != i && BUG != RUN_UNLINKED -> d_step { ROOM; PUTW(last, W(G(lastw), i)) }
			:: else
			fi;
			d_step { last = i; lastw = w; rn++ }
		:: else -> /* reusable */
			d_step { ROOM; PUTW(i, W(SPENT, NONE)); place[i] = GONE; owed[i] = 0; TAKEN }
			d_step { FENCED; exhausted++ }
		fi
	:: else -> break
	od;
	atomic { btop[b] = top; bn[b] = bn[b] - hi; top = 0; i = 0; w = 0; from = MOVING + me; after = DELIVERED }
	/* deliver */
	if
	:: rn == 0 -> goto delivered
	:: else
	fi;
#if !FIFO
	goto push;
#else
put:	/* put; enqueue, append */
#if BUG != QUEUE_UNLOCKED
	atomic {
		if
		:: FENCED && mu[s] == 0 -> mu[s] = 1
		:: mu[s] == 1 && effort != WAIT -> goto refused
		fi
	}
#endif
#if BUG != APPEND_OPEN
	if
	:: L(lastw) != NONE -> d_step { ROOM; PUTW(last, W(G(lastw), NONE)) }
	:: else
	fi;
#endif
	d_step { FENCED; SEALS }
	d_step { i = tail[s]; w = WORD(i) }
	d_step {
		FENCED; /* stricter than a release store: the ghost holds what others see */
		EARLY(I1, place[i] == FREED && L(word[i]) == NONE);
		SETW(i, W(G(w), L(first))); /* P3 */
		WALKFREE(L(first), rn, from);
		tail[s] = last; i = 0; w = 0
	}
#if BUG != QUEUE_UNLOCKED
	d_step { FENCED; mu[s] = 0 }
#endif
#if PLAIN
	if
	:: after == SPLICED -> NO_RUN; hi = bn[b]; bn[b] = 0; goto spliced
	:: else -> goto delivered
	fi;
#else
	goto delivered;
#endif
refused: /* visited slots wait in front of the others */
#if PLAIN
	if
	:: after == SPLICED -> NO_RUN; goto unspliced
	:: else
	fi;
#endif
	if
	:: L(lastw) != btop[b] -> d_step { ROOM; PUTW(last, W(G(lastw), btop[b])) }
	:: else
	fi;
	d_step {
		g = 0;
		do
		:: g < SLOTS -> place[g] = (place[g] == MOVING + me -> SEALED : place[g]); g++
		:: else -> break
		od;
		blast[b] = (bn[b] == 0 && BUG != END_KEPT -> last : blast[b]);
		g = 0; btop[b] = L(first); bn[b] = bn[b] + rn; hi = hi - rn
	}
	LEFT(-hi)
	LEAVE;
	goto reclaimed;
#endif
delivered:
	LEFT(-hi)
	LEAVE;
	NO_RUN; hi = 0;
	goto passed;

reclaimed:
#if !SYNC
	goto main
#else
	if
	:: syn -> goto synchronized
	:: else -> goto main
	fi
#endif
