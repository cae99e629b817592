package storm

import (
	"errors"
	"flag"
	"runtime"
	"testing"
	"time"

	"go.uber.org/atomic"

	"coatcheck/pool"
)

// A torture is a storm after the Linux kernel's rcutorture. Writers insert and
// remove by every verb. Readers pin, keep pointers for a short or a long time, and
// say at every look how old is what they keep: live, removed so and so many
// removals ago, or reused, which must never be. What disturbs them is weather
// (weather.go): stutter, GOMAXPROCS that flips, collection without end.
//
// The ages are not told by the pool. A value is reused if its own words name
// another incarnation than the reader found at first; it is removed if the
// goroutine that removed it said so.

var tortureFlag = flag.Duration("torture", 0, "how long all tortures take together, an eighth of it in -short; 0: 5 s in the full programme, 2.5 s otherwise")

// TortureLength returns how long one of n tortures lasts.
func TortureLength(n int) time.Duration {
	return shorter(lasts(*tortureFlag, 5*time.Second, 2500*time.Millisecond)) / time.Duration(n)
}

// Crew is how many goroutines do what in a torture.
type Crew struct {
	Writers  int
	Workers  int // of the writers: those that act through Workers
	Readers  int
	Mayflies int // each starts goroutines that exit or panic under a guard, one after the other
	Sweepers int
	Stallers int
}

// Torture is a Subject in a torture and all that is known of it.
type Torture struct {
	*Storm
	subject Subject

	owners *Owners                // nil where slots are removed unseen
	lives  []atomic.Uint32        // by slot: how often it was handed out
	board  []atomic.Pointer[life] // where handles pass from hand to hand
	holds  chan *hold             // guards on their way to another goroutine

	removals atomic.Uint32                 // the clock of ages; may wrap
	still    atomic.Pointer[chan struct{}] // while all stand still: closed when they go on
	victims  []*victim
	lasted   time.Duration
}

// life is what is known of one incarnation.
type life struct {
	h     Handle
	stamp Stamp
	wins  atomic.Int32  // removals that answered true
	at    atomic.Uint32 // the clock when it was removed; read only if wins is not 0
}

// handOvers is how many guards may be on their way at once.
const handOvers = 8

// NewTorture returns the torture of s, which hands out slots below slots: that is
// the bound of its memory, too. Up to shown handles lie where all find them.
func NewTorture(t testing.TB, s Subject, slots, shown int, crew Crew) *Torture {
	tt := &Torture{
		Storm:   New(t),
		subject: s,
		lives:   make([]atomic.Uint32, slots),
		board:   make([]atomic.Pointer[life], shown),
		holds:   make(chan *hold, handOvers),
	}
	if crew.Sweepers == 0 {
		tt.owners = NewOwners(slots)
	}
	tt.enlist(crew.Writers-crew.Workers, func(v *victim) { v.write(false) })
	tt.enlist(crew.Workers, func(v *victim) { v.write(true) })
	tt.enlist(crew.Sweepers, (*victim).sweep)
	tt.enlist(crew.Readers, (*victim).read)
	tt.enlist(1, (*victim).unpinOthers)
	tt.enlist(crew.Mayflies, (*victim).mayflies)
	tt.enlist(crew.Stallers, (*victim).stall)
	tt.enlist(1, (*victim).stutter)
	tt.enlist(1, (*victim).flip)
	tt.enlist(1, (*victim).collect)
	return tt
}

// victim is one goroutine of a torture.
type victim struct {
	*Hand
	t    *Torture
	part Part
	made uint32         // incarnations
	ages []atomic.Int64 // of what it has looked at, by age; a slice as Hand.done is
}

func (t *Torture) victim() *victim {
	v := &victim{t: t, ages: make([]atomic.Int64, ages)}
	t.victims = append(t.victims, v)
	return v
}

// enlist provides n goroutines that run f, which returns when Running answers
// false.
func (t *Torture) enlist(n int, f func(v *victim)) {
	for range n {
		v := t.victim()
		t.Go(1, func(h *Hand) {
			v.Hand, v.part = h, t.subject.Part(false)
			defer func() { v.part.Close() }()
			f(v)
		})
	}
}

// goOn answers whether the torture goes on. It stands still while all do.
func (v *victim) goOn() bool {
	v.halt()
	return v.Running()
}

func (v *victim) halt() {
	if still := v.t.still.Load(); still != nil {
		<-*still
	}
}

// Endure runs the torture for such a time, and longer if what rates demand has
// not happened by then. It returns the first error that was found.
func (t *Torture) Endure(length time.Duration, rates Rates) error {
	begin := time.Now()
	err := t.Try(length, func() string { return t.lacks(rates, length) })
	t.lasted = time.Since(begin)
	if err != nil {
		return err
	}
	return t.settle()
}

// settle removes everything and counts.
func (t *Torture) settle() error {
	h := &Hand{storm: t.Storm, Rand: t.hands[0].Rand, done: make([]atomic.Int64, works)}
	t.hands = append(t.hands, h)
	v := t.victim()
	v.Hand, v.part = h, t.subject.Part(false)
	close(t.holds)
	for k := range t.holds {
		v.lapse(k)
	}
	for i := range t.board {
		if l := t.board[i].Swap(nil); l != nil {
			v.remove(l)
		}
	}
	if in, out := t.Done(Inserted), t.Done(Removed)+t.Done(Swept); in != out {
		t.Failf("%d values were inserted and %d removed", in, out)
	}
	if st := t.subject.Stats(); st.Live != 0 {
		t.Failf("%d values are live that nobody knows of: %+v", st.Live, st)
	}
	t.subject.Settle(t.Storm)
	return t.failed.Load()
}

// write inserts and removes.
func (v *victim) write(worker bool) {
	for v.Running() {
		v.part = v.t.subject.Part(worker)
		for range 1 + v.IntN(200) {
			if !v.goOn() {
				break
			}
			switch at := &v.t.board[v.IntN(len(v.t.board))]; v.IntN(8) {
			case 0, 1, 2, 3, 4:
				v.insert()
			case 5, 6:
				if l := at.Swap(nil); l != nil {
					v.remove(l)
				}
			case 7: // against whoever takes it from the board
				if l := at.Load(); l != nil {
					v.remove(l)
				}
			}
		}
		if !v.Chance(4) {
			v.part.Close() // and otherwise it is dropped
		}
	}
}

// insert inserts up to three values and shows them.
func (v *victim) insert() {
	cs := make([]Coupon, 1+v.IntN(3))
	first := v.made + 1
	for i := range cs {
		v.made++
		cs[i] = Stamp{uint32(v.ID), v.made}.Coupon()
	}
	hs, err := v.part.Insert[v.IntN(len(v.part.Insert))](cs, nil)
	switch {
	case err == errMeant:
		v.Did(Burned, 1)
	case errors.Is(err, pool.ErrFull):
		v.Did(Full, 1)
		if errors.Is(err, pool.ErrStalled) {
			v.Did(Stalled, 1)
		}
		if v.Chance(8) {
			time.Sleep(20 * time.Microsecond) // readers that are done need a processor to unpin
		}
		runtime.Gosched()
	case err != nil:
		v.t.Failf("insertion: %w", err)
	}
	v.Did(Inserted, len(hs))
	for i, h := range hs {
		v.enter(h)
		l := &life{h: h, stamp: Stamp{uint32(v.ID), first + uint32(i)}}
		if old := v.t.board[v.IntN(len(v.t.board))].Swap(l); old != nil {
			v.remove(old)
		}
	}
}

// enter enters a slot that was handed out to v.
func (v *victim) enter(h Handle) {
	i := h.Index()
	if uint64(i) >= uint64(len(v.t.lives)) {
		v.t.Failf("%v was handed out, and memory is bounded by %d slots", h, len(v.t.lives))
		return
	}
	v.t.lives[i].Inc()
	if v.t.owners != nil {
		if err := v.t.owners.Claim(i, uint64(h)); err != nil {
			v.t.Failf("goroutine %d: %w", v.ID, err)
		}
	}
	if h.Generation()%2 == 0 {
		v.t.Failf("%v was handed out, whose generation is even", h)
	}
}

// remove removes l by one of the verbs, unless others are faster.
func (v *victim) remove(l *life) {
	if v.t.owners != nil {
		v.t.owners.Release(l.h.Index(), uint64(l.h))
	}
	c, ok := v.part.Remove[v.IntN(len(v.part.Remove))](l.h)
	if v.t.subject.Contains(l.h) {
		v.t.Failf("%v is live after its removal", l.h)
	}
	if !ok {
		return
	}
	v.Did(Removed, 1)
	l.at.Store(v.t.removals.Inc())
	if n := l.wins.Inc(); n > 1 {
		v.t.Failf("%v was removed %d times", l.h, n)
	}
	if c != nil && c.Stamp() != l.stamp {
		v.t.Failf("%v hands over %v; want %v", l.h, c.Stamp(), l.stamp)
	}
}

// sweep removes values of which it knows nothing.
func (v *victim) sweep() {
	for v.goOn() {
		n := v.t.subject.Sweep(v.Rand)
		v.Did(Swept, n)
		v.t.removals.Add(uint32(n))
		time.Sleep(time.Duration(v.IntN(500)) * time.Microsecond)
	}
}
