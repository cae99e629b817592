/* coatcheck's protocol for the model checker Spin; see README.md.
 *
 * A thread does K operations, each any of its menu M. The files included in its body are the
 * operations; they end with goto main. Every access to a shared word is one step. atomic and
 * d_step add to it accesses to the thread's own variables and to ghosts.
 */
#include "words.pml"

/* A thread's menu. */
#define INS  1   /* Insert: pop, or a fresh slot; publish */
#define BLD  2   /* InsertFunc: the same; publish or burn */
#define REM  4   /* Remove; reclaims when a batch is full */
#define REC  8   /* reclaim of any shard to any, with any effort but WAIT */
#define GRD 16   /* PinBrief, a look-up of any slot, UnpinBrief */
#define WIN 32   /* a Worker's Insert */
#define WRM 64   /* a Worker's Remove */
#define SYN 128  /* Synchronize */

/* effort; more than SCAN is WAIT. */
#define KNOWN 0
#define SCAN  1
#define WAIT  2

/* Where to continue after over, push and put. */
#define PASS      1
#define TURN      2
#define DELIVERED 3
#define SPLICED   4

/* FIFO takes fresh slots first. */
#if FIFO
#define INSERT take_fresh
#else
#define INSERT pop
#endif

#define CHOOSE_SLOT  i = 0; do :: i < SLOTS - 1 -> i++ :: break od

/* home, recipient: reclaimed slots may go to any shard, since the choice is a hint. */
#if NSH > 1 && !FIFO
#define HELPED if :: to = sh :: to = 1 - sh fi
#else
#define HELPED to = sh
#endif

/* The counter left, for scans; an empty chain of the thread. */
#if LOOKS
#define LEFT(n) atomic { FENCED; waits[s] = waits[s] + n };
#else
#define LEFT(n)
#endif
#define NO_RUN   first = 0; last = 0; lastw = 0; rn = 0

#define SEALS    seals[s]++; CHECK(too_many_seals, seals[s] < 16)
#define NUMBERED SEALS; number[b] = seals[s]
#define CLAIM    bword[b] = CLAIMED; EARLY(one_owner, owner[b] == 0); owner[b] = 1 + me

/* batches: of shard s, how many are not empty, and how many are known to be over. */
#define LOOKAT(s) \
	g = (s) * NB; allb = 0; overb = 0; \
	do \
	:: g < ((s) + 1) * NB -> \
		allb = allb + (bword[g] != EMPTY); \
		overb = overb + (L(bword[g]) != NONE && OVER(bword[g])); g++ \
	:: else -> break \
	od; \
	g = 0

/* leave, an atomic Store. Numbers begin anew when a shard has no batch, for fewer states. */
#if BUG == STAMP_UNCLAIMED
#define LEFTWORD W(bover[b], btop[b])
#else
#define LEFTWORD W(number[b] << 1 | bover[b], btop[b])
#endif
#define LEAVE \
	atomic { \
		FENCED; \
		EARLY(one_owner, owner[b] == 1 + me); \
		owner[b] = 0; \
		if \
		:: bn[b] > 0 -> bword[b] = LEFTWORD /* P9 */ \
		:: else -> \
			bword[b] = EMPTY; btop[b] = 0; bstamp[b] = 0; number[b] = 0; \
			reversed[b] = 0; blast[b] = 0; bover[b] = 0; inOrder[b] = 0; \
			LOOKAT(b / NB); \
			seals[b / NB] = (allb == 0 && !SYNC && !LOOKS -> 0 : seals[b / NB]) \
		fi \
	}

/* How many slots a Worker's Claim may take from a list: its reach less the slots that it keeps. */
#define WANTED (REACH + PART - room < REACH -> REACH + PART - room : REACH)

#define LOOK \
	atomic { \
		CHOOSE_SLOT; \
		if \
		:: L(WORD(i)) == i -> EARLY(I4, ODD(WORD(i))); seen[i] = seen[i] | (1 << me) \
		:: else \
		fi \
	}

#define RDCELL RD(CELLAT + c, cell[c])
#define SCAN_CELL \
	d_step { \
		if \
		:: RDCELL & 1 -> met = 1; m = (RDCELL >> 1 < m -> RDCELL >> 1 : m) \
		:: else \
		fi; \
		c++ \
	}

/* The cells of the block; found is whether any is active. */
#define SCAN_BLOCK \
	c = C1; found = 0; \
	do \
	:: c < CELLS -> \
		d_step { \
			if \
			:: RDCELL & 1 -> found = 1; met = 1; m = (RDCELL >> 1 < m -> RDCELL >> 1 : m) \
			:: else \
			fi; \
			c++ \
		} \
	:: else -> break \
	od

/* mark.raise: afterwards the mark is set. */
#if BUG == MARK_RELEASED
#define RAISE ROOM; PUT(MARKAT, CHANGED(w, MARKSET), mark2); w = 0; break
#else
#define RAISE FENCED; if :: mark2 == w -> mark2 = CHANGED(w, MARKSET); w = 0; break :: else fi
#endif
#define MARK \
	do \
	:: atomic { \
		w = RD(MARKAT, mark2); \
		if \
		:: MARKSTATE(w) == MARKSET || (BUG == DOUBT_UNSEEN && MARKSTATE(w) == DOUBTED) -> w = 0; break \
		:: else \
		fi } \
		atomic { RAISE } \
	od

/* advance: E from r to r+1. */
#if BUG == E_STORED
#define ADVANCE if :: r < ELIM -> d_step { FENCED; EARLY(E_grows, r + 1 >= E); E = r + 1 } :: else fi
#elif BUG == E_STILL
#define ADVANCE skip
#else
#define ADVANCE if :: r < ELIM -> d_step { FENCED; if :: E == r -> E = r + 1 :: else fi } :: else fi
#endif

#if BUG == STAMP_EQUAL
#define PASSED(stamp, s) ((stamp) <= (s))
#else
#define PASSED(stamp, s) ((stamp) < (s))
#endif

proctype thread(byte me; byte menu; byte k)
{
	byte i, w, h, top, next, rest, first, last, lastw, rn, cnt;
	byte wseen, ctop, ctail, cn, b, s, to, q, r, m, e, c, x, lo, hi, after, effort, from;
	bit bld, busy, met, found, syn, known, known2;
	byte sh = me % NSH;
#if WORKERS
	byte ready[REACH + PART], bag[REACH + PART], pstamp[NB], pend[NB];
	byte nready, nbag, opened, nparts, wnext, wend, bagstamp, bagtop = NONE, room = PART;
	bit tried;
#endif

main:
	atomic {
		i = 0; w = 0; h = 0; top = 0; next = 0; rest = 0; NO_RUN; cnt = 0;
		wseen = 0; ctop = 0; ctail = 0; cn = 0; b = 0; s = 0; to = 0; q = 0; r = 0; m = 0; e = 0; c = 0; x = 0;
		lo = 0; hi = 0; after = 0; effort = 0; from = 0; bld = 0; busy = 0; met = 0; found = 0;
		syn = 0; known = 0; known2 = 0
	}
	if
#if WORKERS
	:: (menu & WRM) && k > 0 && nbag >= room && !tried -> tried = 1; goto turn
	:: (menu & WIN) && k > 0 && nbag > 0 && nready == 0 && wnext == wend && !tried -> tried = 1; goto turn
	:: (menu & WRM) && k > 0 && (nbag < room || tried) -> k--; tried = 0; goto worker_remove
	:: (menu & WIN) && k > 0 && (nbag == 0 || nready > 0 || wnext < wend || tried) ->
		k--; tried = 0; q = sh; goto worker_insert
	:: k == 0 && nready > 0 -> goto give_back /* Flush */
	:: k == 0 && nready == 0 && wnext < wend -> goto return_fresh
	:: k == 0 && nready == 0 && wnext == wend && nbag > 0 -> goto retire_bag
	:: k == 0 && nready == 0 && wnext == wend && nbag == 0 -> goto ended
#else
	:: k == 0 -> goto ended
#endif
	:: (menu & INS) && k > 0 -> k--; q = sh; goto INSERT
	:: (menu & BLD) && k > 0 -> k--; q = sh; bld = 1; goto INSERT
#if NSH > 1
	:: (menu & INS) && k > 0 -> k--; q = 1 - sh; goto pop
#endif
	:: (menu & REM) && k > 0 -> k--; goto remove
	:: (menu & REC) && k > 0 ->
		atomic {
			k--;
			if
			:: effort = KNOWN
			:: effort = SCAN
			fi;
#if NSH > 1
			if
			:: s = 0
			:: s = 1
			fi;
#endif
			to = (FIFO -> s : sh)
		}
		goto reclaim
	:: (menu & GRD) && k > 0 -> k--; goto guard
#if SYNC
	:: (menu & SYN) && k > 0 -> k--; goto synchronize
#endif
#if DRAIN
	:: me >= 4 && k > 0 -> k--; effort = WAIT; s = sh; to = sh; goto reclaim
#endif
	fi;

built:	/* the thread owns slot i, whose handle will be h */
	if
	:: bld -> goto abandon
	:: true
	fi;
	d_step { /* Publish, a release store */
		ROOM;
		CHECK(owned_once, place[i] == HELD + me);
		CHECK(true_tag, G(WORD(i)) < G(h));
		PUTW(i, h); /* P1 */
		place[i] = LIVING
	}
	goto main;

#include "freelist.pml"
;
#include "fresh.pml"
;
#include "claim.pml"
;
#include "limbo.pml"
;
#include "frontier.pml"
;
#include "reclaim.pml"
;
#include "batch.pml"
;
#if SYNC
#include "quiesce.pml"
;
#endif
#if WORKERS
#include "worker.pml"
;
#endif
ended:
	atomic { FENCED; done++ }
}

#if TSO
/* Stores leave a thread's buffer at any time, the oldest first. */
proctype drains(byte me)
{
end:	do
	:: d_step {
		held[me] > 0 ->
		if
		:: at0[me] < CELLAT -> word[at0[me]] = val0[me]
		:: at0[me] == MARKAT -> mark2 = val0[me]
		:: else -> cell[at0[me] - CELLAT] = val0[me]
		fi;
		at0[me] = at1[me]; val0[me] = val1[me]; at1[me] = 0; val1[me] = 0; held[me]--
	   }
	od
}
#endif

/* A list at the end: each slot is where its ghost says, and once in one list. */
#define TELL(a, n, where) \
	g = a; gn = n; \
	do \
	:: gn > 0 && g != NONE -> \
		CHECK(none_lost, g < SLOTS && place[g] == where && hits[g] == 0); \
		hits[g] = 1; g = L(word[g]); gn-- \
	:: else -> break \
	od

init {
	byte j, t, b;

	d_step {
		/* words of new memory: 0, except for slot 0 */
#if BUG != BORN_ZERO
		word[0] = W(0, NONE);
#endif
		j = 0;
		do
		:: j < LIVE0 -> word[j] = W((j < OLD0 -> LAST : 1), j); place[j] = LIVING; j++
		:: j >= LIVE0 && j < LIVE0 + FREE0 ->
			word[j] = (j + 1 < LIVE0 + FREE0 -> W(0, j + 1) : W(0, NONE));
			place[j] = FREED; pushed[j] = 1; j++
		:: j >= LIVE0 + FREE0 && j < LIVE0 + FREE0 + FRESH0 -> place[j] = RANGED; j++
		:: else -> break
		od;
		t = 0;
		do
		:: t < NSH ->
			free[t] = EMPTY; limbo[t] = EMPTY; g = 0;
			do
			:: g < NB -> bword[t * NB + g] = EMPTY; g++
			:: else -> break
			od;
			g = 0;
#if FIFO
			/* the dummy; of shard 0 it may have slots behind it */
			free[t] = SLOTS - 1 - t; tail[t] = SLOTS - 1 - t;
			word[SLOTS - 1 - t] = W(0, NONE); place[SLOTS - 1 - t] = FREED; pushed[SLOTS - 1 - t] = 1;
#endif
			t++
		:: else -> break
		od;
#if FREE0
#if FIFO
		word[SLOTS - 1] = LIVE0; tail[0] = LIVE0 + FREE0 - 1;
#else
		free[0] = LIVE0;
#endif
#endif
		fresh[0] = W(LIVE0 + FREE0, LIVE0 + FREE0 + FRESH0);
		tnext = LIVE0 + FREE0 + FRESH0;
		mark2 = CLEAR; linked2 = LINKED;
		j = 0; t = 0
	}
	atomic {
		run thread(0, M0, K0);
#if TSO
		run drains(0);
#endif
#ifdef M1
		run thread(1, M1, K1);
#if TSO
		run drains(1);
#endif
#endif
#ifdef M2
		run thread(2, M2, K2);
#if TSO
		run drains(2);
#endif
#endif
#ifdef M3
		run thread(3, M3, K3);
#if TSO
		run drains(3);
#endif
#endif
	}
	(done == NT);
#if DRAIN
#if TSO
	run drains(4);
	run drains(5);
#endif
	/* L5: a few calls reclaim all slots, after all guards are unpinned (1), or beside
	 * overlapping guards (2) */
#if DRAIN == 2
	cell[0] = 2 * E + 1;
	run thread(4, 0, 1);
	(done == NT + 1);
	cell[1] = 2 * E + 1; cell[0] = 0; done = NT;
#endif
	run thread(4, 0, 4);
	(done == NT + 1);
#if NSH > 1
	run thread(5, 0, 4);
	(done == NT + 2);
#endif
#endif
	d_step { /* I3, at quiescence */
		t = 0;
		do
		:: t < NSH ->
			TELL(L(free[t]), SLOTS + 1, FREED);
			TELL(L(limbo[t]), SLOTS + 1, WAITING);
			b = t * NB;
			do
			:: b < (t + 1) * NB ->
				CHECK(none_lost, bword[b] != CLAIMED && (bword[b] == EMPTY) == (bn[b] == 0));
				if
				:: bn[b] > 0 -> TELL(btop[b], bn[b], SEALED)
				:: else
				fi;
				if
				:: bn[b] > 0 && FIFO && reversed[b] != NONE -> TELL(reversed[b], SLOTS, SEALED)
				:: else
				fi;
				b++
			:: else -> break
			od;
			j = G(fresh[t]);
			do
			:: j < L(fresh[t]) ->
				CHECK(none_lost, place[j] == RANGED && hits[j] == 0);
				hits[j] = 1; j++
			:: else -> break
			od;
			CHECK(none_lost, filling[t] == 0 && mu[t] == 0);
			CHECK(none_lost, !FIFO || place[tail[t]] == FREED && L(word[tail[t]]) == NONE);
#if DRAIN
			CHECK(all_back, limbo[t] == EMPTY && bword[t * NB] == EMPTY && bword[(t + 1) * NB - 1] == EMPTY);
#endif
			t++
		:: else -> break
		od;
		j = 0;
		do
		:: j < SLOTS ->
			CHECK(none_lost, hits[j] == (place[j] != TABLE && place[j] != LIVING && place[j] != GONE));
			CHECK(none_lost, place[j] < HELD && (place[j] != TABLE || (j >= tnext && j < SLOTS - FIFO * NSH)));
			hits[j] = 0; j++
		:: else -> break
		od;
		EARLY(S_below_E, S <= E)
	}
}
