/* Parameters, words, shared state, ghost state and checks. Code: shard/word.go,
 * shard.go, batch.go, freelist.go; epoch/domain.go; internal/atom for release stores. Options -D
 * set the parameters; see `run`.
 */

/* Parameters. */
#ifndef FIFO
#define FIFO 0          /* 1: shards keep queues; slot SLOTS-1-s is the dummy of shard s */
#endif
#ifndef SLOTS
#define SLOTS 2         /* at most 6 */
#endif
#ifndef LIVE0
#define LIVE0 0         /* slots that are live at first, then */
#endif
#ifndef OLD0
#define OLD0 0          /* those of them in their last generation */
#endif
#ifndef FREE0
#define FREE0 0         /* slots in the freelist of shard 0, then */
#endif
#ifndef FRESH0
#define FRESH0 0        /* slots in its range; the others are in the table */
#endif
#ifndef NSH
#define NSH 1           /* shards; thread t uses shard t % NSH */
#endif
#ifndef BATCH
#define BATCH 1         /* shard.Batch: removals for each seal */
#endif
#ifndef NB
#define NB 2            /* shard.sealedMost: batches a shard, and parts of a bag */
#endif
#ifndef MOST
#define MOST 4          /* shard.reclaimMost: slots that one call visits */
#endif
#ifndef RANGE
#define RANGE 2         /* slots that a refill asks for */
#endif
#ifndef PLAIN
#define PLAIN 1         /* 1: T is plain, so a batch may be spliced whole */
#endif
#ifndef LAST
#define LAST 9          /* the last live generation; the first is 1 */
#endif
#ifndef ELIM
#define ELIM 3          /* epoch.Limit: E stops here */
#endif
#ifndef C1
#define C1 1            /* cells that every scan visits */
#endif
#ifndef C2
#define C2 0            /* cells of the block after these */
#endif
#ifndef LINKED
#define LINKED 1        /* 0: the block exists after a Pin appends it */
#endif
#ifndef DRAIN
#define DRAIN 0         /* 1: at the end all waiting slots are reclaimed */
#endif
#ifndef LOOKS
#define LOOKS 0         /* scans of Arena.bare before an insertion is refused; 0: none is refused */
#endif
#ifndef SYNC
#define SYNC 0          /* 1: a thread calls Synchronize */
#endif
#ifndef TSO
#define TSO 0           /* release stores in a thread's buffer; 0: visible at once */
#endif
#ifndef REACH
#define REACH 2         /* a Worker's: slots that it keeps */
#endif
#ifndef PART
#define PART REACH      /* Magazine.batch: slots in a part of its bag */
#endif

/* Mutants. */
#ifndef BUG
#define BUG 0
#endif
#define HEAD_UNTAGGED   1  /* the freelist's head is an index alone */
#define BURN_NOTHING    2  /* error path: back to the freelist with the same generation */
#define RETURN_UNBURNT  3  /* a Worker gives back a ready slot with the same generation */
#define REST_UNREAD     4  /* Pop takes the new top's generation for the old one's */
#define TAIL_ONCE       5  /* push links its tail before the first try only */
#define STAMP_FIRST       6  /* seal takes the stamp, then the chain */
#define E_STORED        7  /* advance stores the new epoch */
#define E_LATE          8  /* Over loads E after its scan */
#define STAMP_EQUAL       9  /* r <= S counts as passed */
#define NO_GRACE       10  /* a batch is reclaimed at once */
#define LOOK_FIRST     11  /* a guard looks, and then claims its cell */
#define REMOVE_STORES  12  /* vacate: load and store */
#define TURN_UNCHECKED 13  /* a Worker takes its bag without looking at the frontier */
#define LIMBO_FIRST    14  /* unlink looks at limbo, then at the word */
#define APPEND_OPEN    15  /* enqueue does not end the chain with None */
#define REFILL_BLIND   16  /* refill does not look whether the range is empty */
#define RETIRE_ONCE    17  /* retire does not link anew when it tries again */
#define CHAIN_ONCE     18  /* pushLimbo links its tail before the first try only */
#define CLAIM_STORES   19  /* Pin: load and store */
#define MARK_LATE      20  /* a guard looks, and then sets the mark of its block */
#define WORN_LATE      21  /* an exhausted slot is counted after it was pushed on limbo */
#define WORN_SWAPPED   22  /* worn loads spent before exhausted */
#define S_STORED       23  /* raise stores S */
#define FRESH_STORES   24  /* freshRun: load and store */
#define BORN_ZERO      25  /* slot 0 begins with the word 0 */
#define STAMP_OF_FIRST   26  /* a bag's part has a stamp from before its last unlinking */
#define UNCLAIMED      27  /* a batch is moved without its claim */
#define RUN_UNLINKED   28  /* a chain is not linked past an exhausted slot */
#define E_STILL        29  /* advance does nothing */
#define DOUBT_UNSEEN   30  /* a pin treats a doubted mark as set */
#define CLEAR_ONCE     31  /* visitMark clears a mark without a second look */
#define TWO_OWNERS     32  /* oldest claims by load and store */
#define EMPTY_STORES   33  /* emptyBatch claims by load and store */
#define EMPTIED_EARLY  34  /* move reports a batch as empty before it is */
#define STAMP_UNCLAIMED  35  /* passed looks at the stamp before the claim; words have no number */
#define NUMBER_LATE    36  /* seal takes its number after the swap */
#define GOAL_FIRST     37  /* goal loads seals before it seals */
#define CLAIMED_UNSEEN 38  /* finished ignores a claimed batch */
#define QUEUE_UNLOCKED 39  /* a queue's appender does not take the lock */
#define END_KEPT       40  /* a batch that goes back keeps its last slot, exhausted or not */
#define PART_OLD       41  /* parts of a bag that share a seal keep the older stamp */
#define LOOKS_TWICE    42  /* bare looks once less than it must */
#define CLAIM_RELEASED 43  /* a cell is claimed by a release store (TSO) */
#define MARK_RELEASED  44  /* a mark is set by a release store (TSO) */

/* Words: generation (limbo: count; range: next) above, index, link or end in the
 * lower three bits. A cell is epoch above, active below; an idle cell is 0. */
#define G(w)     ((w) >> 3)
#define L(w)     ((w) & 7)
#define W(g, l)  (((g) << 3) | (l))
#define NONE     7
#define EMPTY    NONE
#define SPENT    (LAST + 1)
#define ODD(w)   (G(w) & 1)
#define CELLS    (C1 + C2)
#define CLEAR    0
#define MARKSET  1
#define DOUBTED  2
#define MARKSTATE(w)   ((w) & 3)
#define CHANGED(w, st) (((w) | 3) + 1 + (st))

/* The word of a batch: number and over above, first slot below (leave). */
#define CLAIMED  W(1, NONE)
#define NUMBER(w) ((w) >> 4)
#define OVER(w)   (((w) >> 3) & 1)

/* Shared words. Each access to one of them is a step of its own. */
byte word[SLOTS];       /* Slot.Word */
byte free[NSH];         /* shard.free */
byte fresh[NSH];        /* shard.fresh */
byte limbo[NSH];        /* shard.limbo */
byte seals[NSH];        /* shard.seals */
byte waits[NSH];        /* shard.left, if LOOKS */
byte bword[NSH * NB];   /* batch.word; batch b is of shard b / NB */
bit  filling[NSH];      /* shard.filling */
bit  mu[NSH];           /* queue.mu */
byte tnext;             /* Table.next */
byte spent, exhausted;  /* Arena.spent, exhausted */
byte E, S;              /* Domain.epoch, safe */
byte cell[CELLS];       /* cell.word */
bit  linked2;           /* the block is reachable */
byte mark2;             /* its mark: changes above, state in the lower two bits */

/* Plain fields of batches, under the claim (P9), and a queue's tail, under mu. */
byte btop[NSH * NB], bn[NSH * NB], bstamp[NSH * NB], number[NSH * NB], reversed[NSH * NB], blast[NSH * NB];
bit  bover[NSH * NB], inOrder[NSH * NB];
byte tail[NSH];

/* Release stores wait in their thread's buffer, first in, first out: its loads find
 * them, its locked instructions wait until they are out (atom.StoreRelease). PUT is
 * such a store, RD a load, FENCED stands before a locked instruction. */
#define CELLAT 8        /* an address: a slot's index, CELLAT + cell, or MARKAT */
#define MARKAT 24
#if TSO
#define MEN 6
byte held[MEN], at0[MEN], val0[MEN], at1[MEN], val1[MEN];
#define FENCED (held[me] == 0)
#define ROOM   (held[me] < TSO)
#define PUT(a, v, w) \
	if \
	:: held[me] == 0 -> at0[me] = a; val0[me] = v \
	:: else -> at1[me] = a; val1[me] = v \
	fi; \
	held[me]++
#define RD(a, w) (held[me] > 1 && at1[me] == (a) -> val1[me] : (held[me] > 0 && at0[me] == (a) -> val0[me] : (w)))
#else
#define FENCED true
#define ROOM   true
#define PUT(a, v, w) w = v
#define RD(a, w)     (w)
#endif
#define WORD(i) RD(i, word[i])

/* Ghosts: what an onlooker who sees everything writes down. They change in the
 * step of the real access that they belong to, and no thread reads them. */
byte place[SLOTS];      /* where the slot is (I3) */
byte seen[SLOTS];       /* which threads have a guard that saw it live */
byte pushed[SLOTS];     /* 1 + generation of its last push on a freelist (I5) */
byte owner[NSH * NB];   /* 1 + the thread that has claimed the batch (P9) */
byte owed[SLOTS];       /* which threads' Synchronize promise that it is reclaimed (L13) */
byte none;              /* which threads' insertion has seen no slot to be had (L11) */
byte done;              /* threads that have ended */
hidden byte hits[SLOTS];
hidden byte g, gn, allb, overb; /* within one step */

#define TABLE   0
#define RANGED  1
#define FREED   2
#define WAITING 3       /* in limbo */
#define SEALED  4
#define LIVING  5
#define GONE    6       /* exhausted */
#define HELD    8       /* + thread: in its hands, a Worker's included */
#define MOVING  16      /* + thread: in its hands, as it reclaims */

/* Checks. A violated one is printed by its name. EARLY ones are invariants that
 * break before harm is done; -DHARM goes without them, to see the harm. */
hidden byte owned_once, unseen, none_lost, removed_once, spent_in_no_list, true_tag,
	I1, I2, I4, I5, E_grows, S_grows, S_below_E, own_cell, limbo_chain,
	all_back, one_owner, kept_promise, true_refusal, too_many_seals;
#define CHECK(name, cond)  assert((cond) || name)
#ifdef HARM
#define EARLY(name, cond)  skip
#else
#define EARLY(name, cond)  CHECK(name, cond)
#endif

/* A successful compare-and-swap of a slot's word, and a release store. */
#define FITS(at, new) \
	EARLY(I2, G(new) >= G(WORD(at))); \
	EARLY(I4, ODD(new) || L(new) != at)
#define SETW(at, new) FITS(at, new); word[at] = new
#define PUTW(at, new) FITS(at, new); PUT(at, new, word[at])

/* The ghost of a list of n slots from index a on: all go from one place to another. */
#define WALK(a, n, from, to_, name) \
	g = a; gn = n; \
	do \
	:: gn > 0 -> \
		CHECK(name, g < SLOTS); \
		CHECK(name, place[g] == (from)); \
		place[g] = to_; g = L(word[g]); gn-- \
	:: else -> break \
	od; g = 0

/* The same for a push on a freelist: once with a generation, never exhausted, and
 * not while a guard may still see it. */
#define WALKFREE(a, n, from) \
	g = a; gn = n; \
	do \
	:: gn > 0 -> \
		CHECK(owned_once, g < SLOTS); \
		CHECK(owned_once, place[g] == (from)); \
		EARLY(I5, G(word[g]) >= pushed[g]); \
		CHECK(spent_in_no_list, G(word[g]) < SPENT); \
		CHECK(unseen, seen[g] == 0); \
		pushed[g] = G(word[g]) + 1; owed[g] = 0; \
		place[g] = FREED; g = L(word[g]); gn-- \
	:: else -> break \
	od; g = 0

/* Whether no slot is to be had, when one was taken: all are live, exhausted or in the
 * hands of those who insert and remove, but for the dummies of queues. */
#if LOOKS
#define TAKEN \
	g = 0; gn = 0; \
	do \
	:: g < SLOTS -> gn = gn + (place[g] < LIVING || place[g] >= MOVING); g++ \
	:: else -> break \
	od; \
	if \
	:: gn <= FIFO * NSH -> none = 255 \
	:: else \
	fi; \
	g = 0; gn = 0
#else
#define TAKEN skip
#endif
