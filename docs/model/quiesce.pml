/* Synchronize. Code: goal, reclaimedAll and wait of shard/reclaim.go; finished of
 * batch.go. */

synchronize: /* wait: slots retired before the call are owed */
	atomic {
		g = 0;
		do
		:: g < SLOTS ->
			if
			:: place[g] == WAITING || place[g] == SEALED || place[g] >= MOVING -> owed[g] = owed[g] | (1 << me)
			:: else
			fi;
			g++
		:: else -> break
		od;
		g = 0; syn = 1; s = 0
	}
goal:
	known = 0; effort = KNOWN;
#if BUG == GOAL_FIRST
	d_step { e = seals[s] }
#endif
	d_step { x = (L(limbo[s]) == NONE) }
	if
	:: x -> known = 1; x = 0; goto goal_sealed
	:: else -> goto seal
	fi;
goal_sealed:
#if BUG != GOAL_FIRST
	atomic { e = seals[s] }
#endif
synchronized: /* finished; or reclaim, and goal again if there was no batch for the seal */
	effort = WAIT; to = s; cnt = 0; NO_RUN; hi = 0;
	if
	:: !known && known2 -> known2 = 0; goto goal
	:: !known && !known2 -> known2 = 1; goto reclaim
	:: else -> known2 = 0
	fi;
	b = s * NB;
	do
	:: b < (s + 1) * NB ->
		d_step {
			x = (bword[b] == CLAIMED && BUG != CLAIMED_UNSEEN || L(bword[b]) != NONE && NUMBER(bword[b]) <= e);
			b++
		}
		if
		:: x -> x = 0; goto reclaim
		:: else
		fi
	:: else -> break
	od;
	s++;
	if
	:: s < NSH -> goto goal
	:: else
	fi;
	d_step {
		g = 0;
		do
		:: g < SLOTS -> CHECK(kept_promise, !(owed[g] & (1 << me))); g++
		:: else -> break
		od;
		g = 0
	}
	goto main
