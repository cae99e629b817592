/* Slots that were never used. Code: shard/fresh.go, Allot of shard/pages.go. */

take_fresh: /* Fresh */
	atomic {
		w = fresh[sh];
		if
		:: G(w) >= L(w) -> goto refill
		:: else
		fi
	}
	atomic {
		if
		:: fresh[sh] == w || BUG == FRESH_STORES ->
			fresh[sh] = w + 8; i = G(w); h = W(1, i);
			CHECK(owned_once, place[i] == RANGED);
			place[i] = HELD + me;
			goto built
		:: else -> goto take_fresh
		fi
	}

#if WORKERS
freshrun: /* FreshRun of up to REACH slots, for a Worker */
	atomic {
		w = fresh[sh];
		if
		:: G(w) >= L(w) -> goto refill
		:: else -> cnt = (L(w) - G(w) < REACH -> L(w) - G(w) : REACH)
		fi
	}
	atomic {
		if
		:: fresh[sh] == w ->
			fresh[sh] = w + 8 * cnt; wnext = G(w); wend = wnext + cnt;
			g = wnext;
			do
			:: g < wend ->
				CHECK(owned_once, place[g] == RANGED);
				place[g] = HELD + me; g++
			:: else -> break
			od;
			g = 0;
			goto main
		:: else -> goto freshrun
		fi
	}

#endif

refill:	/* Refill, with Allot; that a pool near its end asks for one slot is a choice */
	cnt = 1;
	if
	:: tnext == SLOTS -> goto main
	:: else
	fi;
	if
	:: true
	:: atomic {
		token[sh] == 0 -> token[sh] = 1; x = 1
	   }
#if BUG == REFILL_BLIND
		cnt = RANGE
#else
		d_step { cnt = (G(fresh[sh]) < L(fresh[sh]) -> 1 : RANGE) }
#endif
	fi;
allot:
	atomic { lo = tnext; hi = (lo + cnt < SLOTS - FIFO * NSH -> lo + cnt : SLOTS - FIFO * NSH) }
	if
	:: lo >= hi -> goto refill_end
	:: else
	fi;
	atomic {
		if
		:: tnext == lo ->
			tnext = hi; g = lo;
			do
			:: g < hi ->
				CHECK(owned_once, place[g] == TABLE);
				place[g] = HELD + me; g++
			:: else -> break
			od;
			g = 0
		:: else -> goto allot
		fi
	}
	if
	:: lo + 1 < hi ->
		d_step {
			fresh[sh] = W(lo + 1, hi); g = lo + 1;
			do
			:: g < hi ->
				CHECK(owned_once, place[g] == HELD + me);
				place[g] = RANGED; g++
			:: else -> break
			od;
			g = 0
		}
	:: else
	fi;
	i = lo; h = W(1, i);
refill_end:
	if
	:: x -> d_step { token[sh] = 0; x = 0 }
	:: else
	fi;
	if
	:: lo < hi -> goto built
	:: else -> goto main
	fi
