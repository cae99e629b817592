package coatcheck_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/storm"
	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// rates is the least work in each second of a torture. A busy machine with the race
// detector does ten times as much, an idle one a hundred times.
var rates = storm.Rates{
	storm.Inserted: 100, storm.Removed: 100, storm.Burned: 20, storm.Full: 50, storm.Stalled: 50,
	storm.Pinned: 100, storm.Read: 500, storm.Late: 50, storm.Lapsed: 4,
	storm.Exited: 1, storm.Panicked: 1, storm.LeftLoop: 0.2, storm.Halted: 1,
	storm.Paused: 2, storm.Flipped: 2, storm.Collected: 1,
}

// TestTorture keeps pointers under guards for short and long times, beside all operations
// that a program may call. No kept value may change, slots must be reused, and none may be
// lost. For an hour of it, run
//
//	go test -run 'Torture$' -torture 1h -timeout 0 -v .
//
// It reports the ages of kept values, as rcutorture does.
func TestTorture(t *testing.T) {
	setups := []storm.Setup{
		{Name: "LIFO", Options: storm.Options{Capacity: 64, Shards: 2}, Shown: 32},
		{Name: "tiny", Options: storm.Options{Capacity: 4, Shards: 1}, Shown: 2},
		{Name: "FIFO", Options: storm.Options{Capacity: 16, Shards: 2, Reuse: pool.FIFO, MinFree: 4}, Shown: 8},
		{Name: "Reset", Options: storm.Options{Capacity: 64, Shards: 2}, Shown: 32},
		{Name: "Workers", Options: storm.Options{Capacity: 512, Shards: 2}, Workers: 2, Shown: 64},
		{Name: "swept", Unowned: true, Options: storm.Options{Capacity: 256, Shards: 2}, Shown: 128},
		// Live, waiting and free slots fit into a page for each shard, or into two.
		{Name: "MaxLimbo", Options: storm.Options{MaxLimbo: 200, Shards: 2}, Shown: 128, Slots: 4 * 4096},
	}
	for _, set := range setups {
		t.Run(set.Name, func(t *testing.T) {
			set.Hands = 3
			var reset func(*storm.Plain)
			if set.Name == "Reset" {
				reset = func(v *storm.Plain) { *v = storm.Plain{} }
			}
			w := storm.Raise(t, set, storm.Plains, reset)
			w.Crew(set, (*storm.Actor[storm.Plain]).Write)
			if set.Unowned {
				w.Hands(1, (*storm.Actor[storm.Plain]).Sweep)
			}
			w.Require(w.Torture(storm.TortureLength(len(setups)), rates))
			t.Logf("%s for %s", set.Name, w.Report())
		})
	}
}

// word is a value whose accesses are atomic, so that the storm finds the faults below and
// not the race detector. Its words have 32 bits, for their alignment on 32-bit platforms.
type word struct{ high, low atomic.Uint32 }

var words = storm.Kind[word]{
	Make: func(s uint64) (w word) {
		w.high.Store(uint32(s >> 32))
		w.low.Store(uint32(s))
		return w
	},
	Stamp: func(v *word) uint64 { return uint64(v.high.Load())<<32 | uint64(v.low.Load()) },
	Blank: func(v *word) bool { return v.high.Load()|v.low.Load() == 0 },
}

type (
	wordPool   = verbs.Subject[word]
	wordHandle = pool.Handle[word]
)

// early overwrites a removed value while guards that were pinned before still stand.
type early struct{ wordPool }

func (p early) Remove(h wordHandle) bool {
	g := p.Pin()
	defer g.Unpin()
	v, _ := g.Get(h)
	ok := p.wordPool.Remove(h)
	if ok && v != nil {
		v.low.Store(0)
	}
	return ok
}

// twice removes by a load and a store, so two goroutines may both succeed.
type twice struct{ wordPool }

func (p twice) Remove(h wordHandle) bool {
	live := p.Contains(h)
	runtime.Gosched()
	p.wordPool.Remove(h)
	return live
}

// again hands out a slot that is live.
type again struct {
	wordPool
	last *atomic.Uint64
}

func (p again) Insert(v word) (wordHandle, error) {
	if h := wordHandle(p.last.Swap(0)); p.Contains(h) {
		return h, nil
	}
	h, err := p.wordPool.Insert(v)
	p.last.Store(uint64(h))
	return h, err
}

// TestStormFindsWrongPools is a control: the storm's steps and records find the faults of
// pools that are wrong on purpose.
func TestStormFindsWrongPools(t *testing.T) {
	set := storm.Setup{Options: storm.Options{Capacity: 16, Shards: 1}, Hands: 4}
	for finding, wrong := range map[string]func(p wordPool) wordPool{
		"under one guard or Ref, the value": func(p wordPool) wordPool { return early{p} },
		"was removed 2 times":               func(p wordPool) wordPool { return twice{p} },
		"is owned twice":                    func(p wordPool) wordPool { return again{p, atomic.NewUint64(0)} },
	} {
		t.Run(finding, func(t *testing.T) {
			found := false
			for round := 0; round < 200 && !found; round++ {
				p := pool.Must(&pool.Options[word]{Capacity: set.Capacity, Shards: set.Shards})
				w := storm.WorldOf(t, set, wrong(p), words)
				w.Crew(set, (*storm.Actor[word]).Step)
				err := w.Try(50*time.Millisecond, nil)
				found = err != nil && strings.Contains(err.Error(), finding)
			}
			require.True(t, found, "the storm finds nothing: do not trust it")
		})
	}
}
