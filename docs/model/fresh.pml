/* Fresh slots, which were never used. Code: shard/shard.go, Allot of shard/pages.go. */

take_fresh: /* takeFresh */
	atomic {
		w = fresh[sh];
		if
		:: G(w) >= L(w) && FIFO -> goto pop
		:: G(w) >= L(w) && !FIFO -> goto refill
		:: else
		fi
	}
	atomic {
		FENCED;
		if
		:: fresh[sh] == w || BUG == FRESH_STORES ->
			fresh[sh] = w + 8; i = G(w); h = W(1, i);
			CHECK(owned_once, place[i] == RANGED);
			place[i] = HELD + me; TAKEN;
			goto built
		:: else -> goto take_fresh
		fi
	}

#if WORKERS
freshrun: /* freshRun of up to WANTED slots, for a Worker's Claim */
	atomic {
		w = fresh[sh];
		if
		:: G(w) >= L(w) -> goto refill
		:: else -> cnt = (L(w) - G(w) < WANTED -> L(w) - G(w) : WANTED)
		fi
	}
	atomic {
		FENCED;
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
			TAKEN;
			goto worker_insert
		:: else -> goto freshrun
		fi
	}

#endif

refill:	/* refill, with Allot; that a pool near its end asks for one slot is a choice */
	cnt = 1;
	if
	:: tnext == SLOTS -> goto none_found
	:: else
	fi;
	if
	:: true
	:: atomic {
		FENCED && filling[sh] == 0 -> filling[sh] = 1; x = 1
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
		FENCED;
		if
		:: tnext == lo ->
			tnext = hi; g = lo;
			do
			:: g < hi ->
				CHECK(owned_once, place[g] == TABLE);
				place[g] = HELD + me; g++
			:: else -> break
			od;
			g = 0; TAKEN
		:: else -> goto allot
		fi
	}
	if
	:: lo + 1 < hi ->
		d_step {
			FENCED;
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
	:: x -> d_step { FENCED; filling[sh] = 0; x = 0 }
	:: else
	fi;
	if
	:: lo < hi -> goto built
	:: else -> goto none_found
	fi
