package pool_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/pool"
)

func TestWorkerHandlesAreThePools(t *testing.T) {
	for _, reuse := range reuses {
		p := tiny(t, &pool.Options[int]{Shards: 2, Reuse: reuse})
		a, b := p.Worker(), p.Worker()
		for i := range 500 {
			h, err := a.Insert(i)
			require.NoError(t, err)
			v, ok := b.Get(h)
			require.True(t, ok)
			require.Equal(t, i, v)
			g := b.Pin()
			in, ok := g.Get(h)
			require.True(t, ok)
			require.Equal(t, i, *in)
			g.Unpin()
			switch i % 4 {
			case 0:
				require.True(t, b.Remove(h))
			case 1:
				require.True(t, p.Remove(h))
			case 2:
				v, ok := b.Take(h)
				require.True(t, ok)
				require.Equal(t, i, v)
			case 3:
				require.True(t, a.Remove(h))
			}
			require.False(t, a.Remove(h))
			require.False(t, b.Remove(h))
			_, ok = a.Take(h)
			require.False(t, ok)
			_, ok = a.Get(h)
			require.False(t, ok)
		}
		a.Close()
		b.Close()
		requireReclaimed(t, p)
	}
}

func TestClosedWorkerPanics(t *testing.T) {
	p := pool.Must[int](nil)
	h := mustInsert(t, p, 1)
	closed := p.Worker()
	closed.Close()
	closed.Close()
	for name, w := range map[string]*pool.Worker[int]{"closed": closed, "zero": {}} {
		for verb, use := range map[string]func(){
			"Insert":     func() { _, _ = w.Insert(1) },
			"InsertFunc": func() { _, _ = w.InsertFunc(func(pool.Handle[int], *int) {}) },
			"Get":        func() { w.Get(h) },
			"Remove":     func() { w.Remove(h) },
			"Take":       func() { w.Take(h) },
			"Pin":        func() { w.Pin() },
			"Flush":      w.Flush,
		} {
			t.Run(name+" "+verb, func(t *testing.T) { requirePanicText(t, use, "pool: ", "Worker") })
		}
	}
	require.Equal(t, 1, p.MustGet(h))
	require.Zero(t, p.Stats().Cached)
}

// At most 4,096 slots are in a Worker's reach, a sixteenth of a small Capacity,
// and none under FIFO, whatever it did; Flush gives them all back.
func TestWorkersReachIsBounded(t *testing.T) {
	rnd := newRand(t)
	for _, c := range []struct {
		opts pool.Options[int]
		most int
	}{
		{pool.Options[int]{Shards: 1}, 4096},
		{pool.Options[int]{Shards: 3}, 4096},
		{pool.Options[int]{Shards: 1, Capacity: 100_000}, 4096},
		{pool.Options[int]{Shards: 1, Capacity: 1000}, 125},
		{pool.Options[int]{Shards: 1, Capacity: 200}, 25},
		{pool.Options[int]{Shards: 1, Capacity: 4}, 1},
		{pool.Options[int]{Shards: 1, Reuse: pool.FIFO}, 0},
		{pool.Options[int]{Shards: 1, Reset: func(*int) {}}, 128},
		{pool.Options[int]{Shards: 1, Origin: lastGeneration - 20}, 4096},
	} {
		p := tiny(t, &c.opts)
		w := p.Worker()
		greatest := 0
		check := func(what string) {
			if rnd.IntN(8) > 0 {
				return
			}
			if n := p.Stats().Cached; n > c.most {
				t.Fatalf("%d slots cached after %s, want at most %d: %+v", n, what, c.most, c.opts)
			} else {
				greatest = max(greatest, n)
			}
		}
		live := 600
		if c.opts.Capacity > 0 {
			live = min(live, c.opts.Capacity/2)
		}
		var hs []pool.Handle[int]
		for len(hs) < live {
			hs = append(hs, mustInsert(t, p, 1))
		}
		check("nothing")
		for range long(300) {
			// Runs of one kind find the corners.
			switch n := rnd.IntN(150); rnd.IntN(6) {
			case 0, 1:
				for ; n > 0 && len(hs) < 2*live; n-- {
					if h, err := w.Insert(1); err == nil {
						hs = append(hs, h)
					}
					check("Worker.Insert")
				}
			case 2, 3:
				for ; n > 0 && len(hs) > 0; n-- {
					require.True(t, w.Remove(hs[len(hs)-1]))
					hs = hs[:len(hs)-1]
					check("Worker.Remove")
				}
			case 4:
				for ; n > 0 && len(hs) < 2*live; n-- {
					if h, err := p.Insert(1); err == nil {
						hs = append(hs, h)
					}
				}
			case 5:
				if n%10 == 0 {
					w.Flush()
					require.Zero(t, p.Stats().Cached)
				}
			}
		}
		// A run of removals that is long enough, whatever the program was.
		for len(hs) < live {
			h, err := p.Insert(1)
			require.NoError(t, err)
			hs = append(hs, h)
		}
		for _, h := range hs {
			require.True(t, w.Remove(h))
			check("the last Worker.Remove")
		}
		if c.most > 4 && c.opts.Origin == 0 && c.opts.Reset == nil {
			require.Greaterf(t, greatest, min(c.most, 128)/3, "the Worker kept nearly nothing: %+v", c.opts)
		}
		w.Close()
		requireReclaimed(t, p)
	}
}

// A Worker comes to keep what goes round in it, and gives it back when it goes round no
// more. One that only removes, or whose slots wait for a guard, keeps no more than at
// first.
func TestWorkersReachFollowsItsUse(t *testing.T) {
	const burst = 1000
	p := pool.Must(&pool.Options[int]{Shards: 1})
	w := p.Worker()
	defer w.Close()
	var hs []pool.Handle[int]
	bursts := func(rounds, n int) {
		for range rounds {
			for i := range n {
				h, err := w.Insert(i)
				require.NoError(t, err)
				hs = append(hs, h)
			}
			for _, h := range hs {
				require.True(t, w.Remove(h))
			}
			hs = hs[:0]
		}
	}
	cached := func() int { return p.Stats().Cached }
	bursts(2, 20)
	require.LessOrEqual(t, cached(), 128)
	bursts(8, burst)
	require.GreaterOrEqual(t, cached(), burst)
	require.LessOrEqual(t, cached(), 4096)
	bursts(40_000, 1)
	require.LessOrEqual(t, cached(), 512, "one value at a time goes round")

	bursts(8, burst)
	w.Flush()
	require.Zero(t, cached())
	for range 10 {
		for _, h := range fill(t, p, burst, number) {
			require.True(t, w.Remove(h))
		}
		require.LessOrEqual(t, cached(), 128, "it only removes")
	}

	w.Flush()
	g := p.Pin()
	bursts(10, burst)
	require.LessOrEqual(t, cached(), 128, "nothing goes round")
	g.Unpin()
	bursts(8, 100*burst)
	require.LessOrEqual(t, cached(), 4096)
}

// The way to the greatest reach at first: slots that never were used, beside two bags.
func TestWorkersReachCountsUnusedSlots(t *testing.T) {
	for before := 0; before < 70; before += 1 + before%3 {
		p := pool.Must(&pool.Options[int]{Shards: 1})
		w := p.Worker()
		hs := fill(t, p, 64*3+before, number)
		_, err := w.Insert(1)
		require.NoError(t, err)
		for _, h := range hs {
			require.True(t, w.Remove(h))
			require.LessOrEqual(t, p.Stats().Cached, 128)
		}
		w.Close()
		requireReclaimed(t, p)
	}
}

func TestFlushedWorkerGoesOn(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1, Capacity: 256})
	w := p.Worker()
	seen := map[pool.Handle[int]]bool{}
	for i := range 2000 {
		h, err := w.Insert(i)
		require.NoError(t, err)
		require.False(t, seen[h], "%v twice", h)
		seen[h] = true
		if i%7 == 0 {
			w.Flush()
			require.Zero(t, p.Stats().Cached)
		}
		require.True(t, w.Remove(h))
		if i%11 == 0 {
			w.Flush()
		}
	}
	w.Flush()
	requireReclaimed(t, p)
	fill(t, p, 256, number)
}

// A Worker that is dropped loses no slot.
func TestDroppedWorkerLosesNoSlot(t *testing.T) {
	for _, capacity := range []int{0, 1000} {
		p := tiny(t, &pool.Options[stamp]{Shards: 1, Capacity: capacity})
		allocated := 0
		for range 4 {
			apart(func() {
				w := p.Worker()
				var hs []pool.Handle[stamp]
				for range 300 {
					h, err := w.Insert(stamp{})
					if err != nil {
						t.Error(err)
					}
					hs = append(hs, h)
				}
				for _, h := range hs {
					w.Remove(h)
				}
				_, _ = w.Insert(stamp{})
			})
			eventually(t, func() bool { return p.Stats().Cached == 0 }, "what a dropped Worker cached")
			require.Equal(t, 1, p.Clear())
			eventually(t, func() bool { st := requireConserved(t, p); return st.Cached == 0 }, "sum")
			st := requireReclaimed(t, p)
			require.Equal(t, st.Allocated, st.Free)
			if allocated == 0 {
				allocated = st.Allocated
			}
			require.LessOrEqual(t, st.Allocated, allocated+2)
		}
	}
}

// A garbage collection at any moment of a Worker's last operation must not give
// its slots back under it. Each operation is the last mention of its Worker; a
// helper collects all the time, and InsertFunc and Reset collect in the middle.
// It catches a method without KeepAlive.
func TestGCInsideWorkersLastOperation(t *testing.T) {
	p := tiny(t, &pool.Options[stamp]{Shards: 1, Reset: func(v *stamp) { v.id = 0 }})
	q := tiny(t, &pool.Options[stamp]{Shards: 1})
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for !stop.Load() {
			runtime.GC()
		}
	}()
	for i := range long(1500) {
		for _, p := range []*pool.Pool[stamp]{p, q} {
			hs := make([]pool.Handle[stamp], 48)
			for k := range hs {
				hs[k] = mustInsert(t, p, stamp{id: uint64(k + 1)})
			}
			w := p.Worker()
			h, err := w.Insert(stamp{id: 99})
			require.NoError(t, err)
			for _, h := range hs[1:] {
				require.True(t, w.Remove(h))
			}
			switch i % 6 {
			case 0:
				require.True(t, w.Remove(hs[0])) // the bag is full
			case 1:
				v, ok := w.Take(hs[0])
				require.True(t, ok)
				require.EqualValues(t, 1, v.id)
			case 2:
				_, err := w.InsertFunc(func(_ pool.Handle[stamp], v *stamp) {
					v.self = v
					runtime.GC()
					h := mustInsert(t, p, stamp{id: 5})
					require.True(t, p.Remove(h))
					require.Equal(t, v, v.self, "the slot was given back under init")
				})
				require.NoError(t, err)
			case 3:
				h, err := w.Insert(stamp{id: 6})
				require.NoError(t, err)
				require.EqualValues(t, 6, p.MustGet(h).id)
			case 4:
				w.Flush()
			case 5:
				g := w.Pin()
				v, ok := g.Get(h)
				require.True(t, ok)
				require.EqualValues(t, 99, v.id)
				g.Unpin()
			}
			p.Clear()
		}
	}
	stop.Store(true)
	wg.Wait()
	for _, p := range []*pool.Pool[stamp]{p, q} {
		eventually(t, func() bool { return p.Stats().Cached == 0 }, "dropped Workers")
		st := requireReclaimed(t, p)
		require.Equal(t, st.Allocated, st.Free)
	}
}

// One Worker may be used by many goroutines, one after another.
func TestWorkerChangesHands(t *testing.T) {
	p := tiny(t, &pool.Options[stamp]{Shards: 2})
	w := p.Worker()
	turn := make(chan *pool.Worker[stamp], 1)
	turn <- w
	var wg sync.WaitGroup
	var ops atomic.Int64
	for k := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range long(300) {
				w := <-turn
				var hs [20]pool.Handle[stamp]
				for i := range hs {
					h, err := w.Insert(stamp{id: uint64(k)})
					if err != nil {
						t.Error(err)
					}
					hs[i] = h
				}
				turn <- w
				for _, h := range hs {
					w := <-turn
					if v, ok := w.Take(h); !ok || v.id != uint64(k) {
						t.Errorf("%v: %v, %v", h, v, ok)
					}
					ops.Inc()
					turn <- w
				}
			}
		}()
	}
	wg.Wait()
	require.EqualValues(t, 8*20*long(300), ops.Load())
	w.Close()
	requireReclaimed(t, p)
}

// Producer and consumer, by every pairing of Worker and pool, on one or several
// shards: what one side removes reaches the side that inserts, so that memory
// stays near what is live.
func TestProducerAndConsumerShareMemory(t *testing.T) {
	for _, shards := range []int{1, 2, 8} {
		for kind := range 4 {
			t.Run(fmt.Sprintf("shards=%d kind=%d", shards, kind), func(t *testing.T) {
				const inFlight = 200
				p := pool.Must(&pool.Options[plain]{Shards: shards})
				queue := make(chan pool.Handle[plain], inFlight)
				n := long(60_000)
				var wg sync.WaitGroup
				wg.Add(2)
				go func() {
					defer wg.Done()
					defer close(queue)
					w := p.Worker()
					defer w.Close()
					insert := p.Insert
					if kind&1 != 0 {
						insert = w.Insert
					}
					for i := range n {
						h, err := insert(plainKind.Make(uint64(i)))
						if err != nil {
							t.Error(err)
							return
						}
						queue <- h
					}
				}()
				taken := 0
				go func() {
					defer wg.Done()
					w := p.Worker()
					defer w.Close()
					take := p.Take
					if kind&2 != 0 {
						take = w.Take
					}
					for h := range queue {
						v, ok := take(h)
						if !ok || v.id != uint64(taken) || plainKind.Number(&v) != v.id {
							t.Errorf("%v: %v, want %d", h, v, taken)
						}
						taken++
					}
				}()
				wg.Wait()
				require.Equal(t, n, taken)
				st := requireReclaimed(t, p)
				handed := st.Allocated - pool.Unused(p)
				require.LessOrEqualf(t, handed, inFlight+2+2*128+shards*4*64, "%+v", st)
			})
		}
	}
}

// Workers that take slots from the freelist and give them back unused, beside
// goroutines that pop them: no slot has two owners, and none is lost. (That a slot
// must not go back with the generation that it was popped with is for schedule
// exploration to show: the window is too narrow for a storm.)
func TestFlushedSlotsHaveOneOwner(t *testing.T) {
	const capacity = 64
	p := tiny(t, &pool.Options[stamp]{Shards: 1, Capacity: capacity})
	var ids, owned atomic.Uint64
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w := p.Worker()
			defer w.Close()
			insert := p.InsertFunc
			if k < 2 {
				insert = w.InsertFunc
			}
			var mine [8]pool.Handle[stamp]
			for i := range long(40_000) {
				id := ids.Inc()
				at := i % len(mine)
				if h := mine[at]; h != 0 && !p.Remove(h) {
					t.Errorf("lost %v", h)
				}
				var err error
				mine[at], err = insert(func(_ pool.Handle[stamp], v *stamp) {
					if v.id != 0 {
						t.Errorf("the slot belongs to %d, and to %d", v.id, id)
					}
					v.id = id
				})
				if err != nil {
					runtime.Gosched()
				} else {
					owned.Inc()
				}
				if k < 2 {
					w.Flush()
				}
			}
			p.RemoveBatch(mine[:])
		}()
	}
	within(t, wg.Wait)
	require.Greater(t, owned.Load(), uint64(long(40_000)/10))
	st := requireReclaimed(t, p)
	require.Equal(t, capacity, st.Free)
}

// After Flush a Worker keeps no pointer to a slot, so that Trim can give back the
// memory of all that was in its reach.
func TestFlushKeepsNoSlot(t *testing.T) {
	p := pool.Must[int](nil)
	w := p.Worker()
	defer w.Close()
	var hs []pool.Handle[int]
	for i := range 1000 {
		h, err := w.Insert(i)
		require.NoError(t, err)
		hs = append(hs, h)
	}
	for _, h := range hs {
		require.True(t, w.Remove(h))
	}
	require.Positive(t, pool.Kept(w))
	w.Flush()
	require.Zero(t, pool.Kept(w))
}
