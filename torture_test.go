package coatcheck_test

import (
	"context"
	"iter"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/internal/check/storm"
	"coatcheck/pool"
)

// rates is the least number of events in each second of a torture. A busy machine with the
// race detector does ten times as many, an idle one a hundred times.
var rates = storm.Rates{
	storm.Inserted: 100, storm.Removed: 100, storm.Burned: 20, storm.Full: 50, storm.Stalled: 50,
	storm.Pinned: 100, storm.Borrowed: 20, storm.Read: 500, storm.Late: 50, storm.Lapsed: 4,
	storm.Exited: 1, storm.Panicked: 1, storm.LeftLoop: 0.2, storm.Halted: 1,
	storm.Stutter: 2, storm.Flip: 2, storm.Garbage: 1,
}

// tortures is the number of tortures that share the time: those of TestTorture and that of
// the sound model.
const tortures = 8

// TestTorture keeps pointers under guards for short and long times, beside everything else
// that a program may do. No kept value may become another one, slots must be reused, and
// none may be lost. For an hour of it, run
//
//	go test -run 'Torture$' -torture 1h -timeout 0 -v .
//
// It reports the ages of kept values, as rcutorture does.
func TestTorture(t *testing.T) {
	crew := storm.Crew{Writers: 3, Readers: 4, Mayflies: 1, Stallers: 1}
	type setup struct {
		name string
		storm.Options
		scribble bool
		crew     func(c *storm.Crew)
		shown    int
		slots    int // the bound of memory
		with     storm.Rates
	}
	setups := []setup{
		{name: "LIFO", Options: storm.Options{Capacity: 64, Shards: 2}, shown: 32, slots: 64},
		{name: "tiny", Options: storm.Options{Capacity: 4, Shards: 1}, shown: 2, slots: 4},
		{name: "FIFO", Options: storm.Options{Capacity: 16, Shards: 2, Reuse: pool.FIFO, MinFree: 4}, shown: 8, slots: 16 + 4 + 2},
		{name: "Reset", Options: storm.Options{Capacity: 64, Shards: 2}, scribble: true, shown: 32, slots: 64},
		{
			name: "Workers", Options: storm.Options{Capacity: 512, Shards: 2}, shown: 64, slots: 512,
			crew: func(c *storm.Crew) { c.Workers = 2 },
		},
		{
			name: "swept", Options: storm.Options{Capacity: 256, Shards: 2}, shown: 128, slots: 256,
			crew: func(c *storm.Crew) { c.Sweepers = 1 },
			with: storm.Rates{storm.Swept: 50},
		},
		{
			// Live, waiting and free slots fit into one page: of 4,096 slots
			// on 32-bit platforms, and of half as many on others.
			name: "MaxLimbo", Options: storm.Options{MaxLimbo: 300, Shards: 2}, shown: 128, slots: 4096,
		},
	}
	require.Len(t, setups, tortures-1)
	for _, set := range setups {
		t.Run(set.name, func(t *testing.T) {
			least := storm.Rates{}
			for _, r := range []storm.Rates{rates, set.with} {
				for e, n := range r {
					least[e] = n
				}
			}
			c := crew
			if set.crew != nil {
				set.crew(&c)
			}
			s, err := storm.NewSubject(set.Options, set.scribble)
			require.NoError(t, err)
			tt := storm.NewTorture(t, s, set.slots, set.shown, c)
			tt.Require(tt.Endure(storm.TortureLength(tortures), least))
			t.Logf("%s for %s", set.name, tt.Report())
		})
	}
}

// fault is the fault of a model.
type fault int

const (
	sound    fault = iota
	tagless        // the freelist's head is an index alone
	oneEpoch       // slots that were retired in the epoch of the frontier are reused too
)

// model is the simplest pool, correct or with a fault. A torture that does not find the
// fault would find none in the real pools either. All of its words are atomic, so that the
// torture finds the fault, and not the race detector.
type model struct {
	fault  fault
	domain *epoch.Domain
	slots  []modelSlot
	head   atomic.Uint64 // of the freelist: tag | 1 + index, 0 for none

	mu    sync.Mutex // of limbo
	limbo []retired
}

type modelSlot struct {
	word atomic.Uint64 // the handle while live; otherwise generation | notLive
	next atomic.Uint32 // 1 + index of the slot below in the freelist
	c    storm.Coupon
}

// retired is a slot in limbo.
type retired struct {
	index uint32
	tag   uint64
}

func newModel(slots int, f fault) *model {
	m := &model{fault: f, domain: epoch.New(), slots: make([]modelSlot, slots)}
	for i := range m.slots {
		m.slots[i].word.Store(vacant<<32 | notLive)
		m.push(uint32(i))
	}
	return m
}

// vacant is the first generation of a model's slots. notLive is the low half of the word of
// a slot that is not live. It is never the slot's index, as 0 would be for slot 0.
const (
	vacant  = 2
	notLive = 1<<32 - 1
)

func (m *model) push(i uint32) {
	for {
		top := m.head.Load()
		m.slots[i].next.Store(uint32(top))
		if m.head.CompareAndSwap(top, m.tagged(top, i+1)) {
			return
		}
	}
}

// tagged returns the head that follows old, with the given top.
func (m *model) tagged(old uint64, top uint32) uint64 {
	if m.fault == tagless {
		return uint64(top)
	}
	return (old>>32+1)<<32 | uint64(top)
}

func (m *model) pop() (uint32, bool) {
	for {
		top := m.head.Load()
		if uint32(top) == 0 {
			return 0, false
		}
		i := uint32(top) - 1
		below := m.slots[i].next.Load()
		if rand.IntN(16) == 0 {
			runtime.Gosched() // as if preempted here
		}
		if m.head.CompareAndSwap(top, m.tagged(top, below)) {
			return i, true
		}
	}
}

// reclaim moves slots whose grace period is over from limbo to the freelist.
func (m *model) reclaim() {
	m.mu.Lock()
	defer m.mu.Unlock()
	safe := m.domain.Frontier()
	if m.fault == oneEpoch {
		safe++
	}
	n := 0
	for ; n < len(m.limbo) && m.limbo[n].tag < safe; n++ {
		m.push(m.limbo[n].index)
	}
	m.limbo = m.limbo[n:]
}

func (m *model) insert(c storm.Coupon) (storm.Handle, error) {
	m.reclaim()
	i, ok := m.pop()
	if !ok {
		return 0, pool.ErrFull
	}
	s := &m.slots[i]
	s.c.Sign(c.Stamp())
	h := (s.word.Load()>>32+1)<<32 | uint64(i)
	s.word.Store(h)
	return storm.Handle(h), nil
}

func (m *model) remove(h storm.Handle) (*storm.Coupon, bool) {
	s := &m.slots[h.Index()]
	if !s.word.CompareAndSwap(uint64(h), (uint64(h)>>32+1)<<32|notLive) {
		return nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limbo = append(m.limbo, retired{h.Index(), m.domain.Retire()})
	return nil, true
}

// Part is the same for all goroutines.
func (m *model) Part(bool) storm.Part {
	return storm.Part{
		Insert: []func([]storm.Coupon, []storm.Handle) ([]storm.Handle, error){storm.OneByOne(m.insert)},
		Remove: []func(storm.Handle) (*storm.Coupon, bool){m.remove},
		Get:    m.get,
		View:   m.view,
		Pin:    func() storm.Pin { return &modelGuard{m, m.domain.Pin()} },
		Close:  func() {},
	}
}

// modelGuard is a guard of a model.
type modelGuard struct {
	m   *model
	pin epoch.Guard
}

func (g *modelGuard) Unpin() { g.pin.Unpin() }

func (g *modelGuard) Get(h storm.Handle) (*storm.Coupon, bool) {
	return &g.m.slots[h.Index()].c, g.m.Contains(h)
}

func (m *model) view(h storm.Handle, f func(c *storm.Coupon)) bool {
	g := m.domain.Pin()
	defer g.Unpin()
	ok := m.Contains(h)
	if ok {
		f(&m.slots[h.Index()].c)
	}
	return ok
}

func (m *model) get(h storm.Handle) (c storm.Coupon, ok bool) {
	ok = m.view(h, func(at *storm.Coupon) { c.Sign(at.Stamp()) })
	return c, ok
}

func (m *model) Contains(h storm.Handle) bool { return m.slots[h.Index()].word.Load() == uint64(h) }

func (m *model) All() iter.Seq2[storm.Handle, *storm.Coupon] {
	return func(yield func(storm.Handle, *storm.Coupon) bool) {
		g := m.domain.Pin()
		defer g.Unpin()
		for i := range m.slots {
			s := &m.slots[i]
			if w := s.word.Load(); uint32(w) == uint32(i) && !yield(storm.Handle(w), &s.c) {
				return
			}
		}
	}
}

// Sweep is never called.
func (m *model) Sweep(*rand.Rand) int { return 0 }

func (m *model) Stats() pool.Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	st := pool.Stats{Allocated: len(m.slots), Limbo: len(m.limbo)}
	for i := range m.slots {
		if uint32(m.slots[i].word.Load()) == uint32(i) {
			st.Live++
		}
	}
	st.Pinned, st.OldestPin = m.domain.Pinned()
	return st
}

// Settle requires that every slot is free.
func (m *model) Settle(s *storm.Storm) {
	if err := m.domain.Synchronize(context.Background()); err != nil {
		s.Failf("Synchronize: %v", err)
	}
	m.reclaim()
	free := 0
	for free <= len(m.slots) { // a list without a tag may have become a ring
		if _, ok := m.pop(); !ok {
			break
		}
		free++
	}
	if st := m.Stats(); free != len(m.slots) || st.Limbo+st.Pinned > 0 {
		s.Failf("%d of %d slots are free: %+v", free, len(m.slots), st)
	}
}

// tortureModel tortures a model of a few slots.
func tortureModel(t *testing.T, f fault, length time.Duration, least storm.Rates) (*storm.Torture, error) {
	const slots = 12
	crew := storm.Crew{Writers: 3, Readers: 2, Mayflies: 1, Stallers: 1}
	tt := storm.NewTorture(t, newModel(slots, f), slots, 4, crew)
	return tt, tt.Endure(length, least)
}

// TestTortureSparesASoundModel is the base of the controls below: the model without a fault
// passes the torture.
func TestTortureSparesASoundModel(t *testing.T) {
	tt, err := tortureModel(t, sound, storm.TortureLength(tortures), storm.Rates{storm.Inserted: 100, storm.Late: 50})
	tt.Require(err)
	t.Log(tt.Report())
}

// TestTortureFindsOneEpoch is a control: slots retired in the frontier's own epoch are
// reused, so a value that a reader of that epoch keeps becomes another one.
func TestTortureFindsOneEpoch(t *testing.T) {
	requireFound(t, oneEpoch, "was reused under a guard", "a copy of")
}

// TestTortureFindsAnUntaggedFreelist is a control: a slot is handed out twice.
func TestTortureFindsAnUntaggedFreelist(t *testing.T) {
	requireFound(t, tagless, "owned twice", "was reused under a guard", "a copy of", "is not whole",
		"generation is even", "values were inserted and")
}

// requireFound tortures a model with a fault repeatedly until one of the findings is the
// expected one. The model may lose all its slots before that, which alone would prove
// little.
func requireFound(t *testing.T, f fault, findings ...string) {
	t.Helper()
	begin := time.Now()
	for round := 1; time.Since(begin) < 20*time.Second; round++ {
		_, err := tortureModel(t, f, 100*time.Millisecond, nil)
		if err == nil || strings.Contains(err.Error(), "slots are free") {
			continue
		}
		require.Regexp(t, strings.Join(findings, "|"), err.Error())
		t.Logf("found after %v, in round %d: %v", time.Since(begin).Round(time.Millisecond), round, err)
		return
	}
	t.Fatal("the torture finds nothing: do not trust it")
}
