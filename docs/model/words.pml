/* Parameters, words, shared state, ghost state and checks. Code: shard/word.go,
 * shard/shard.go, epoch/domain.go. All parameters are given by -D; `run` shows how.
 */

/* Parameters: how large the world is. */
#ifndef FIFO
#define FIFO 0          /* 1: shards keep queues; slot SLOTS-1-s is the dummy of shard s */
#endif
#ifndef SLOTS
#define SLOTS 2         /* at most 6 */
#endif
#ifndef LIVE0
#define LIVE0 0         /* so many slots are live at first, then */
#endif
#ifndef FREE0
#define FREE0 0         /* so many are in the freelist of shard 0, then */
#endif
#ifndef FRESH0
#define FRESH0 0        /* so many in its range; the others are in the table */
#endif
#ifndef NSH
#define NSH 1           /* shards; thread t works at shard t % NSH */
#endif
#ifndef BATCH
#define BATCH 1         /* shard.Batch: removals to a seal */
#endif
#ifndef MOST
#define MOST 4          /* shard.reclaimMost: slots that one call moves */
#endif
#ifndef RANGE
#define RANGE 2         /* slots that a Refill asks for */
#endif
#ifndef PLAIN
#define PLAIN 1         /* 1: T is plain, so a batch may be spliced whole */
#endif
#ifndef LAST
#define LAST 5          /* the last generation that lives; the first is 1 */
#endif
#ifndef ELIM
#define ELIM 3          /* epoch.Limit: E stops here */
#endif
#ifndef C1
#define C1 1            /* cells that every scan visits */
#endif
#ifndef C2
#define C2 0            /* cells of the block behind it */
#endif
#ifndef LINKED
#define LINKED 1        /* 0: the block is not there before a Pin appends it */
#endif
#ifndef DRAIN
#define DRAIN 0         /* 1: at the end everything that waits is reclaimed */
#endif
#ifndef REACH
#define REACH 2         /* a Worker's: slots in its bag, ready, in a run */
#endif

/* Broken variants. */
#ifndef BUG
#define BUG 0
#endif
#define HEAD_UNTAGGED   1  /* the freelist's head is an index alone */
#define BURN_NOTHING    2  /* error path: straight back, with the same generation */
#define RETURN_UNBURNT  3  /* a Worker gives back a ready slot with the same generation */
#define REST_UNREAD     4  /* Pop takes the new top's generation for the old one's */
#define TAIL_ONCE       5  /* pushRun links its tail before the first try only */
#define TAG_FIRST       6  /* seal takes the tag, then the chain */
#define E_STORED        7  /* Retire stores the new epoch */
#define E_LATE          8  /* Frontier loads E after its scan */
#define TAG_EQUAL       9  /* r <= S is taken for passed */
#define NO_GRACE       10  /* a batch is reclaimed at once */
#define LOOK_FIRST     11  /* a guard looks, and then claims its cell */
#define REMOVE_STORES  12  /* Remove: load and store */
#define TURN_UNCHECKED 13  /* a Worker turns its bag without looking at the frontier */
#define LIMBO_FIRST    14  /* unlink looks at limbo, then at the word */
#define APPEND_OPEN    15  /* appendRun does not end the run with None */
#define REFILL_BLIND   16  /* Refill does not look whether the range is empty */
#define RETIRE_ONCE    17  /* retire does not link anew when it tries again */
#define CHAIN_ONCE     18  /* pushChain links its tail before the first try only */
#define CLAIM_STORES   19  /* Pin: load and store */
#define MARK_LATE      20  /* a guard looks, and then sets the mark of its block */
#define WORN_LATE      21  /* a worn slot is counted after it was pushed on limbo */
#define WORN_SWAPPED   22  /* wornSlots loads Spent before Exhausted */
#define S_STORED       23  /* Frontier stores S */
#define FRESH_STORES   24  /* Fresh: load and store */
#define BORN_ZERO      25  /* slot 0 is born with the word 0 */
#define TAG_OF_FIRST   26  /* turn takes a tag before the bag's last unlinking */
#define TOKENLESS      27  /* Reclaim does not take the token */
#define RUN_UNLINKED   28  /* a run is not linked past a worn slot */
#define E_STILL        29  /* Retire does not advance E */
#define DOUBT_UNSEEN   30  /* a pin takes a mark that is doubted for one that is set */
#define CLEAR_ONCE     31  /* Frontier clears a mark without a second look */

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

/* Shared words. Each access to one of them is a step of its own. */
byte word[SLOTS];       /* Slot.Word */
byte free[NSH];         /* Shard.free */
byte fresh[NSH];        /* Shard.fresh */
byte limbo[NSH];        /* Shard.limbo */
byte token[NSH];        /* Shard.token */
byte tnext;             /* Table.next */
byte spent, exhausted;  /* Space.Spent, Space.Exhausted */
byte E, S;              /* Domain.epoch, Domain.safe */
byte cell[CELLS];       /* cell.word */
bit  linked2;           /* the block is reachable */
byte mark2;             /* its mark: changes above, state in the lower two bits */

/* Plain fields that the token orders: Shard.sealed and Shard.tail. */
byte stop[NSH], sturned[NSH], sn[NSH], stag[NSH], tail[NSH];

/* Ghosts: what an onlooker who sees everything writes down. They change in the
 * step of the real access that they belong to, and no thread reads them. */
byte place[SLOTS];      /* where the slot is (I3) */
byte seen[SLOTS];       /* which threads have a guard that saw it live */
byte pushed[SLOTS];     /* 1 + generation of its last push on a freelist (I5) */
byte done;              /* threads that have ended */
hidden byte hits[SLOTS];

#define TABLE   0
#define RANGED  1
#define FREED   2
#define WAITING 3       /* in limbo */
#define SEALED  4
#define LIVING  5
#define GONE    6       /* exhausted */
#define HELD    8       /* + thread: in its hands, a Worker's included */

/* Checks. A violated one is printed by its name. EARLY ones are invariants that
 * break before harm is done; -DHARM goes without them, to see the harm. */
hidden byte owned_once, unseen, none_lost, removed_once, spent_in_no_list, true_tag,
	I1, I2, I4, I5, E_grows, S_grows, S_below_E, own_cell, limbo_chain,
	all_back;
#define CHECK(name, cond)  assert((cond) || name)
#ifdef HARM
#define EARLY(name, cond)  skip
#else
#define EARLY(name, cond)  CHECK(name, cond)
#endif

/* A store or a successful compare-and-swap of a slot's word. */
#define SETW(at, new) \
	EARLY(I2, G(new) >= G(word[at])); \
	EARLY(I4, ODD(new) || L(new) != at); \
	word[at] = new

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
 * under nobody's eyes. */
#define WALKFREE(a, n, from) \
	g = a; gn = n; \
	do \
	:: gn > 0 -> \
		CHECK(owned_once, g < SLOTS); \
		CHECK(owned_once, place[g] == (from)); \
		EARLY(I5, G(word[g]) >= pushed[g]); \
		CHECK(spent_in_no_list, G(word[g]) < SPENT); \
		CHECK(unseen, seen[g] == 0); \
		pushed[g] = G(word[g]) + 1; \
		place[g] = FREED; g = L(word[g]); gn-- \
	:: else -> break \
	od; g = 0
