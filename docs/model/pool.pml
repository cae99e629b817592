/* coatcheck's protocol for the model checker Spin: see README.md.
 *
 * A thread does K operations, each any of its menu M. The files that are included
 * in its body are the operations; they end with goto main. Every access to a
 * shared word is one step. atomic and d_step join to it what only the thread can
 * see, and ghosts.
 */
#include "words.pml"

/* A thread's menu. */
#define INS  1   /* Insert: pop, or a fresh slot; publish */
#define BLD  2   /* InsertFunc: the same; publish or burn */
#define REM  4   /* Remove; reclaims when a batch is full */
#define REC  8   /* Reclaim of any shard to any, with a scan or without */
#define GRD 16   /* Pin, a look at any slot, Unpin */
#define WIN 32   /* a Worker's Insert */
#define WRM 64   /* a Worker's Remove */
#define ALL 128  /* Reclaim of the thread's shard, with a scan */

/* Where to go on after frontier and pushrun. */
#define RELEASE 1
#define TURN    2

#define CHOOSE_SLOT  i = 0; do :: i < SLOTS - 1 -> i++ :: break od

/* heir: what a remover reclaims may go to any shard. The needy one is a hint. */
#if NSH > 1 && !FIFO
#define HEIR if :: to = sh :: to = 1 - sh fi
#else
#define HEIR to = sh
#endif

#define LOOK \
	atomic { \
		CHOOSE_SLOT; \
		if \
		:: L(word[i]) == i -> EARLY(I4, ODD(word[i])); seen[i] = seen[i] | (1 << me) \
		:: else \
		fi \
	}

#define SCAN_CELL \
	d_step { \
		if \
		:: (cell[c] & 1) && (cell[c] >> 1) < m -> m = cell[c] >> 1 \
		:: else \
		fi; \
		c++ \
	}

/* The cells of the block; busy is whether any is active. */
#define SCAN_BLOCK \
	c = C1; busy = 0; \
	do \
	:: c < CELLS -> \
		d_step { \
			if \
			:: cell[c] & 1 -> busy = 1; m = ((cell[c] >> 1) < m -> cell[c] >> 1 : m) \
			:: else \
			fi; \
			c++ \
		} \
	:: else -> break \
	od

/* mark.raise: the mark is set, found so or made so. */
#define MARK \
	do \
	:: atomic { \
		w = mark2; \
		if \
		:: MARKSTATE(w) == MARKSET || (BUG == DOUBT_UNSEEN && MARKSTATE(w) == DOUBTED) -> w = 0; break \
		:: else \
		fi } \
		atomic { \
		if \
		:: mark2 == w -> mark2 = CHANGED(w, MARKSET); w = 0; break \
		:: else \
		fi } \
	od

/* The second half of Retire: E from r to r+1. */
#if BUG == E_STORED
#define ADVANCE if :: r < ELIM -> d_step { EARLY(E_grows, r + 1 >= E); E = r + 1 } :: else fi
#elif BUG == E_STILL
#define ADVANCE skip
#else
#define ADVANCE if :: r < ELIM -> d_step { if :: E == r -> E = r + 1 :: else fi } :: else fi
#endif

#if BUG == TAG_EQUAL
#define PASSED(tag, s) ((tag) <= (s))
#else
#define PASSED(tag, s) ((tag) < (s))
#endif

proctype thread(byte me; byte menu; byte k)
{
	byte i, w, h, top, next, rest, first, last, lastw, rn, cnt;
	byte wseen, ctop, ctail, cn, s, to, q, r, m, e, c, x, lo, hi, after;
	bit scan, checked, bld, busy;
	byte g, gn; /* of ghosts */
	byte sh = me % NSH;
#if WORKERS
	byte ready[REACH], bag[REACH], nready, nbag, wnext, wend, bagtop = NONE, bagtag;
#endif

main:
	atomic {
		i = 0; w = 0; h = 0; top = 0; next = 0; rest = 0; first = 0; last = 0; lastw = 0; rn = 0; cnt = 0;
		wseen = 0; ctop = 0; ctail = 0; cn = 0; s = 0; to = 0; q = 0; r = 0; m = 0; e = 0; c = 0; x = 0;
		lo = 0; hi = 0; after = 0; scan = 0; checked = 0; bld = 0; g = 0; gn = 0
	}
	if
#if WORKERS
	:: (menu & WRM) && k > 0 && nbag == REACH -> goto turn
	:: (menu & WIN) && k > 0 && nbag > 0 && nready == 0 && wnext == wend -> goto turn
	:: (menu & WIN) && k > 0 -> k--; q = sh; goto worker_insert
	:: (menu & WRM) && k > 0 && nbag < REACH ->
#if BUG == TAG_OF_FIRST
		bagtag = E;
#endif
		k--; goto worker_remove
	:: k == 0 && nready > 0 -> goto return_ready /* Flush, drop */
	:: k == 0 && nready == 0 && wnext < wend -> goto return_fresh
	:: k == 0 && nready == 0 && wnext == wend && nbag > 0 -> goto retire_bag
	:: k == 0 && nready == 0 && wnext == wend && nbag == 0 -> goto ended
#else
	:: k == 0 -> goto ended
#endif
	:: (menu & INS) && k > 0 -> k--; q = sh; goto pop
	:: (menu & BLD) && k > 0 -> k--; q = sh; checked = 1; bld = 1; goto pop
#if NSH > 1
	:: (menu & INS) && k > 0 -> k--; q = 1 - sh; checked = 1; goto pop
#endif
	:: (menu & REM) && k > 0 -> k--; goto remove
	:: (menu & REC) && k > 0 ->
		atomic {
			k--;
			if
			:: scan = 1
			:: scan = 0
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
#if DRAIN
	:: (menu & ALL) && k > 0 -> k--; scan = 1; s = sh; to = sh; goto reclaim
#endif
	fi;

built:	/* slot i is the thread's, to be h */
	if
	:: bld -> goto burn
	:: true
	fi;
	d_step {
		CHECK(owned_once, place[i] == HELD + me);
		CHECK(true_tag, G(word[i]) < G(h));
		SETW(i, h); /* P1 */
		place[i] = LIVING
	}
	goto main;

#include "freelist.pml"
;
#include "fresh.pml"
;
#include "limbo.pml"
;
#include "frontier.pml"
;
#include "reclaim.pml"
;
#if WORKERS
#include "worker.pml"
;
#endif
ended:
	atomic { done++ }
}

/* A list at the end: each slot is where its ghost says, and in one list once. */
#define TELL(a, n, where) \
	g = a; gn = n; \
	do \
	:: gn > 0 && g != NONE -> \
		CHECK(none_lost, g < SLOTS && place[g] == where && hits[g] == 0); \
		hits[g] = 1; g = L(word[g]); gn-- \
	:: else -> break \
	od

init {
	byte j, g, gn, t;

	d_step {
		/* words of memory that was never written: 0, but for slot 0 */
#if BUG != BORN_ZERO
		word[0] = W(0, NONE);
#endif
		j = 0;
		do
		:: j < LIVE0 -> word[j] = W(1, j); place[j] = LIVING; j++
		:: j >= LIVE0 && j < LIVE0 + FREE0 ->
			word[j] = (j + 1 < LIVE0 + FREE0 -> W(0, j + 1) : W(0, NONE));
			place[j] = FREED; pushed[j] = 1; j++
		:: j >= LIVE0 + FREE0 && j < LIVE0 + FREE0 + FRESH0 -> place[j] = RANGED; j++
		:: else -> break
		od;
		t = 0;
		do
		:: t < NSH ->
			free[t] = EMPTY; limbo[t] = EMPTY;
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
#ifdef M1
		run thread(1, M1, K1);
#endif
#ifdef M2
		run thread(2, M2, K2);
#endif
#ifdef M3
		run thread(3, M3, K3);
#endif
	}
	(done == NT);
#if DRAIN
	/* L5: when all guards have gone, a few calls bring everything back */
	run thread(4, ALL, 4);
	(done == NT + 1);
#if NSH > 1
	run thread(5, ALL, 4);
	(done == NT + 2);
#endif
#endif
	d_step { /* I3, when nobody does anything */
		t = 0;
		do
		:: t < NSH ->
			TELL(L(free[t]), SLOTS + 1, FREED);
			TELL(L(limbo[t]), SLOTS + 1, WAITING);
			if
			:: sn[t] > 0 && stop[t] != NONE && (!FIFO || sturned[t] == NONE) -> TELL(stop[t], sn[t], SEALED)
			:: sn[t] > 0 && FIFO && sturned[t] != NONE ->
				TELL(stop[t], SLOTS, SEALED);
				TELL(sturned[t], SLOTS, SEALED)
			:: else
			fi;
			j = G(fresh[t]);
			do
			:: j < L(fresh[t]) ->
				CHECK(none_lost, place[j] == RANGED && hits[j] == 0);
				hits[j] = 1; j++
			:: else -> break
			od;
			CHECK(none_lost, token[t] == 0);
#if DRAIN
			CHECK(all_back, limbo[t] == EMPTY && sn[t] == 0);
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
