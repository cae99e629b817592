package coatcheck_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/storm"
	"coatcheck/internal/check/testkit"
	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// TestStormOwnsOnce runs all operations on single values. No slot is owned twice, none is
// lost, no stale handle is accepted, and no value changes under a guard.
func TestStormOwnsOnce(t *testing.T) {
	sets := []storm.Setup{
		{Name: "one slot", Options: storm.Options{Capacity: 1}, Hands: 4, Shown: 1},
		{Name: "two slots", Options: storm.Options{Capacity: 2, Shards: 1}, Hands: 4, Procs: 8},
		{Name: "tiny", Options: storm.Options{Capacity: 8, Shards: 1}, Hands: 8, Procs: 8},
		{Name: "tiny shards", Options: storm.Options{Capacity: 7, Shards: 3}, Hands: 6},
		{Name: "tiny FIFO", Options: storm.Options{Capacity: 4, Shards: 1, Reuse: pool.FIFO}, Hands: 6, Procs: 8},
		{Name: "FIFO shards", Options: storm.Options{Capacity: 8, Shards: 3, Reuse: pool.FIFO}, Hands: 6},
		{Name: "Workers", Options: storm.Options{Capacity: 1024, Shards: 2}, Hands: 4, Workers: 4, Shown: 256},
		{Name: "mixed", Options: storm.Options{Capacity: 256, Shards: 1}, Hands: 6, Workers: 3, Shown: 64, Procs: 8},
		{Name: "preallocated", Options: storm.Options{Capacity: 100, Preallocate: true}, Hands: 4, Workers: 2, Shown: 32},
		{Name: "unlimited", Hands: 6, Workers: 3, Shown: 512},
		{Name: "unlimited FIFO", Options: storm.Options{Reuse: pool.FIFO}, Hands: 6, Workers: 1, Shown: 512},
	}
	for i := range sets {
		sets[i].Share = 2 * len(sets)
	}
	least := storm.Least{storm.Inserted: 2000, storm.Removed: 2000, storm.Read: 200, storm.Refused: 200, storm.Burned: 200}
	t.Run("plain", func(t *testing.T) { storm.Churn(t, sets, storm.Plains, 0, nil, least) })
	t.Run("linked", func(t *testing.T) { storm.Churn(t, sets, storm.Linkeds, 0, nil, least) })
}

// TestStormCopies copies values while others remove them and use their slots again. No copy
// mixes two values.
func TestStormCopies(t *testing.T) {
	sets := []storm.Setup{
		{Name: "tiny", Options: storm.Options{Capacity: 8, Shards: 1}, Hands: 2, Share: 4},
		{Name: "Workers", Options: storm.Options{Capacity: 64}, Hands: 2, Workers: 2, Share: 4},
	}
	least := storm.Least{storm.Inserted: 2000, storm.Read: 20_000}
	t.Run("linked", func(t *testing.T) { storm.Churn(t, sets, storm.Linkeds, 2, (*storm.Actor[storm.Linked]).Watch, least) })
	t.Run("bulky", func(t *testing.T) { storm.Churn(t, sets, storm.Bulkies, 2, (*storm.Actor[storm.Bulky]).Watch, least) })
}

// TestStormUnderCheckmark storms in a process in which the collector runs all the time and
// checks its marks. It marks again while the world is stopped, and throws if it finds what
// the first pass has missed.
func TestStormUnderCheckmark(t *testing.T) {
	if testkit.Short() || testkit.Race && !testkit.Full() {
		t.Skip("stops the world thousands of times")
	}
	child := exec.Command(os.Args[0], "-test.run=^TestStormCopies$/^linked$", "-test.v")
	child.Env = append(os.Environ(), "GOGC=1", "GODEBUG=gccheckmark=1,invalidptr=1")
	out, ok := testkit.Run(t, child)
	require.True(t, ok, "%s", out)
	require.Contains(t, out, "--- PASS: TestStormCopies/linked")
}

// TestStormTrims runs Trim repeatedly beside all other operations, so that pages lose their
// memory and get it back.
func TestStormTrims(t *testing.T) {
	storm.Churn(t, []storm.Setup{
		{Name: "unlimited", Options: storm.Options{Shards: 2}, Hands: 4, Workers: 1, Shown: 600},
		{Name: "bounded", Options: storm.Options{Capacity: 1000, Shards: 2}, Hands: 4, Workers: 1, Shown: 600, Procs: 8},
		{Name: "FIFO", Options: storm.Options{Capacity: 1000, Shards: 2, Reuse: pool.FIFO}, Hands: 4, Shown: 600, Procs: 8},
	}, storm.Bulkies, 2, (*storm.Actor[storm.Bulky]).Ebb,
		storm.Least{storm.Inserted: 2000, storm.Read: 200, storm.Refused: 200, storm.Trimmed: 20})
}

// TestStormSweeps runs Clear, Drain, DeleteFunc and the loops beside all other operations.
// Every value is removed exactly once.
func TestStormSweeps(t *testing.T) {
	storm.Churn(t, []storm.Setup{
		{Unowned: true, Name: "LIFO", Options: storm.Options{Capacity: 300, Shards: 2}, Hands: 5, Workers: 2, Shown: 256},
		{Unowned: true, Name: "FIFO", Options: storm.Options{Capacity: 40, Shards: 2, Reuse: pool.FIFO}, Hands: 4, Shown: 32},
		{Unowned: true, Name: "unlimited", Hands: 4, Workers: 1, Shown: 2048},
	}, storm.Linkeds, 1, (*storm.Actor[storm.Linked]).Sweep,
		storm.Least{storm.Inserted: 2000, storm.Removed: 100, storm.Swept: 500})
}

// TestStormEvents runs all of that with events. Each life has an OnInsert that writes its value alone, and then an
// OnRemove that reads it, while no other goroutine writes.
func TestStormEvents(t *testing.T) {
	sets := []storm.Setup{
		{Name: "tiny", Options: storm.Options{Capacity: 8, Shards: 1}, Hands: 8, Procs: 8},
		{Name: "FIFO", Options: storm.Options{Capacity: 40, Shards: 2, Reuse: pool.FIFO}, Hands: 4, Shown: 32, Unowned: true},
		{Name: "Workers", Options: storm.Options{Capacity: 1024, Shards: 2}, Hands: 4, Workers: 4, Shown: 256},
		{Name: "unlimited", Hands: 6, Workers: 3, Shown: 2048, Unowned: true, Procs: 8},
		{Name: "torture", Options: storm.Options{Capacity: 300, Shards: 2}, Hands: 5, Workers: 2, Shown: 64, Torture: true},
	}
	for i := range sets {
		sets[i].Events = true
	}
	storm.Churn(t, sets, storm.Linkeds, 0, nil, storm.Least{storm.Inserted: 2000, storm.Removed: 500, storm.Read: 200})
}

// TestStormReplacesExhaustedSlots uses up the generations of all slots several times. Each exhausted
// slot had exactly its number of lives, those that constructors gave up included, and another
// takes its place. Of those that Workers burn only a bound is known.
func TestStormReplacesExhaustedSlots(t *testing.T) {
	const lives = 40
	for _, set := range []storm.Setup{
		{Name: "LIFO", Options: storm.Options{Capacity: 64, Shards: 2}, Hands: 4},
		{Name: "FIFO", Options: storm.Options{Capacity: 16, Shards: 1, Reuse: pool.FIFO}, Hands: 4},
		{Name: "Workers", Options: storm.Options{Capacity: 256, Shards: 1}, Hands: 4, Workers: 4},
	} {
		t.Run(set.Name, func(t *testing.T) {
			set.Share = 3
			set.Origin = testkit.LastGeneration - 2*(lives-1)
			set.Slots = 1 << 20
			w := storm.Raise(t, set, storm.Linkeds, nil)
			w.Crew(set, (*storm.Actor[storm.Linked]).Step)
			// Slots of a dropped Worker or Reservation are not exhausted yet.
			w.Hands(1, func(*storm.Actor[storm.Linked]) {
				runtime.GC()
				time.Sleep(time.Millisecond)
			})
			slots := int64(set.Capacity)
			w.Run(storm.Least{storm.Inserted: 16 * slots * lives})
			w.Finish()
			used := w.Done(storm.Inserted) + w.Done(storm.Burned)
			exhausted := int64(w.Pool.Stats().Exhausted)
			require.GreaterOrEqual(t, exhausted, slots)
			// A Worker that ends gives back what it keeps, and each such slot burns a life.
			kept := w.Done(storm.Left) * slots / 16
			require.GreaterOrEqual(t, used+kept, exhausted*lives)
			if set.Workers == 0 {
				require.LessOrEqual(t, used, (exhausted+slots)*lives)
			}
			_, err := w.Pool.Insert(storm.Linked{})
			require.NoError(t, err)
		})
	}
}

// TestTorture keeps pointers under guards for short and long times, beside all operations
// that a program may call. No kept value may change, slots must be reused, and none may be
// lost. Guards stall all insertions at times, and afterwards these succeed again. For an hour
// of it, run
//
//	go test -run Torture -storm 1h -timeout 0 -v .
//
// It reports what was done.
func TestTorture(t *testing.T) {
	least := storm.Least{
		storm.Inserted: 1000, storm.Reused: 500, storm.Removed: 1000, storm.Burned: 20, storm.Full: 50, storm.Stalled: 20,
		storm.Pinned: 50, storm.Read: 200, storm.Late: 20, storm.Lapsed: 2, storm.Exited: 1, storm.Panicked: 1,
		storm.Halted: 2, storm.Paused: 1, storm.Flipped: 1, storm.Collected: 1,
	}
	sets := []storm.Setup{
		{Name: "LIFO", Options: storm.Options{Capacity: 64, Shards: 2}, Shown: 32},
		{Name: "tiny", Options: storm.Options{Capacity: 4, Shards: 1}, Shown: 2},
		{Name: "FIFO", Options: storm.Options{Capacity: 16, Shards: 2, Reuse: pool.FIFO}, Shown: 8},
		{Name: "Reset", Options: storm.Options{Capacity: 64, Shards: 2, Reset: func(v *storm.Plain) { *v = storm.Plain{} }}, Shown: 32},
		{Name: "Workers", Options: storm.Options{Capacity: 512, Shards: 2}, Workers: 2, Shown: 64},
		{Name: "swept", Unowned: true, Options: storm.Options{Capacity: 256, Shards: 2}, Shown: 128},
		// Live, waiting and free slots fit into a page for each shard, or into two.
		{Name: "MaxLimbo", Options: storm.Options{MaxLimbo: 200, Shards: 2}, Workers: 1, Shown: 128, Slots: 4 * 4096},
	}
	for i := range sets {
		sets[i].Hands, sets[i].Torture = 7, true
	}
	storm.Churn(t, sets, storm.Plains, 0, nil, least)
}

type (
	plainPool   = verbs.Subject[storm.Plain]
	plainHandle = pool.Handle[storm.Plain]
)

// early overwrites a removed value while guards that were pinned before still stand.
type early struct{ plainPool }

func (p early) Remove(h plainHandle) bool {
	g := p.Pin()
	defer g.Unpin()
	v, _ := g.Pointer(h)
	ok := p.plainPool.Remove(h)
	if ok && v != nil {
		*v = storm.Plain{}
	}
	return ok
}

// twice removes by a load and a store, so two goroutines may both succeed.
type twice struct{ plainPool }

func (p twice) Remove(h plainHandle) bool {
	live := p.Contains(h)
	runtime.Gosched()
	p.plainPool.Remove(h)
	return live
}

// again hands out a slot that is live.
type again struct {
	plainPool
	last *atomic.Uint64
}

func (p again) Insert(v storm.Plain) (plainHandle, error) {
	if h := plainHandle(p.last.Swap(0)); p.Contains(h) {
		return h, nil
	}
	h, err := p.plainPool.Insert(v)
	p.last.Store(uint64(h))
	return h, err
}

// TestStormFindsWrongPools is a control: the storm's steps and records find the faults of
// pools that are wrong on purpose.
func TestStormFindsWrongPools(t *testing.T) {
	set := storm.Setup{Options: storm.Options{Capacity: 16, Shards: 1}, Hands: 4}
	for finding, wrong := range map[string]func(p plainPool) plainPool{
		"under one guard or Ref, the value": func(p plainPool) plainPool { return early{p} },
		"was removed 2 times":               func(p plainPool) plainPool { return twice{p} },
		"is owned twice":                    func(p plainPool) plainPool { return again{p, atomic.NewUint64(0)} },
	} {
		t.Run(finding, func(t *testing.T) {
			if testkit.Race && strings.HasPrefix(finding, "under") {
				t.Skip("the race detector finds it first")
			}
			found := false
			for round := 0; round < 200 && !found; round++ {
				w := storm.Raise(t, set, storm.Plains, nil)
				w.Pool = wrong(w.Pool)
				w.Crew(set, (*storm.Actor[storm.Plain]).Step)
				err := w.Try(50*time.Millisecond, storm.Least{storm.Inserted: 100})
				found = err != nil && strings.Contains(err.Error(), finding)
			}
			require.True(t, found, "the storm finds nothing: do not trust it")
		})
	}
}
