package pool_test

import (
	"bytes"
	"fmt"
	"maps"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// payload is large enough to be an object of its own.
type payload [64]byte

// holder is a value that keeps a payload.
type holder = *payload

// insertPayloads inserts n payloads, to which nothing else refers.
func insertPayloads(n int, insert func(holder) (pool.Handle[holder], error)) (hs []pool.Handle[holder], refs []weak.Pointer[payload]) {
	testkit.Apart(func() {
		for range n {
			v := new(payload)
			h, _ := insert(v)
			hs, refs = append(hs, h), append(refs, weak.Make(v))
		}
	})
	return hs, refs
}

// kept returns how many of the payloads are there.
func kept(refs []weak.Pointer[payload]) (n int) {
	for _, r := range refs {
		if r.Value() != nil {
			n++
		}
	}
	return n
}

// A reclaimed slot keeps nothing from the garbage collector, whichever verb removed its value,
// also in its last life and in a Worker's reach. It catches a missing clearing anywhere.
func TestReclaimedValuesAreCollected(t *testing.T) {
	const n = 100
	for name, remove := range removers[holder]() {
		t.Run(name, func(t *testing.T) {
			for _, reuse := range testkit.Reuses {
				for _, origin := range []uint32{1, testkit.LastGeneration} {
					for _, reset := range []func(*holder){nil, func(v *holder) {
						if origin == 1 {
							*v = nil // or it is kept, but not by an exhausted slot
						}
					}} {
						p := tiny(t, &pool.Options[holder]{Shards: 2, Reuse: reuse, Origin: origin, Reset: reset})
						w := p.Worker()
						hs, refs := insertPayloads(n, w.Insert)
						runtime.GC()
						require.Equal(t, n, kept(refs), "collected while they live")
						testkit.Apart(func() { remove(p, w, hs) })
						w.Close()
						testkit.RequireReclaimed(t, p)
						testkit.Eventually(t, func() bool { return kept(refs) == 0 }, "%v, Origin %d", reuse, origin)
						runtime.KeepAlive(p)
					}
				}
			}
		})
	}
}

// Slots that a Worker keeps and reclaims by itself let their values go too: after some more
// operations only the bag, whose grace period is not over, may have values.
func TestWorkersTurnedSlotsHoldNothingBack(t *testing.T) {
	p := tiny(t, &pool.Options[holder]{Shards: 1})
	w := p.Worker()
	_, refs := insertPayloads(1000, func(v holder) (pool.Handle[holder], error) {
		h, err := w.Insert(v)
		w.Remove(h)
		return h, err
	})
	testkit.Eventually(t, func() bool { return kept(refs) <= 64 }, "values of a Worker's slots")
	w.Close()
}

// Values that were removed from a pool that is used no more are let go, with all they refer
// to, whichever verb removed them and however few they are.
func TestIdlePoolLetsGoOfRemovedValues(t *testing.T) {
	const n = 20
	for _, reuse := range testkit.Reuses {
		all := removers[holder]()
		maps.DeleteFunc(all, func(name string, _ remover[holder]) bool { return strings.HasPrefix(name, "Worker.") })
		all["after a guard"] = func(p *pool.Pool[holder], _ *pool.Worker[holder], hs []pool.Handle[holder]) {
			g := p.Pin()
			p.RemoveBatch(hs)
			g.Unpin()
		}
		for name, remove := range all {
			t.Run(testkit.NameOf(reuse)+" "+name, func(t *testing.T) {
				p := pool.Must[holder](&pool.Options[holder]{Reuse: reuse})
				hs, refs := insertPayloads(n, p.Insert)
				testkit.Apart(func() { remove(p, nil, hs) })
				cycle(t, gone(refs))
				require.Zero(t, kept(refs), "removed values that are kept")
				runtime.KeepAlive(p)
			})
		}
	}
}

// A pool is made, or read, while cycles of the collector end: its sentinel does not run
// before it is complete.
func TestSentinelWaitsForThePool(t *testing.T) {
	stop := testkit.Collect()
	var snapshot bytes.Buffer
	first := pool.Must[string](nil)
	testkit.Fill(t, first, 100, strconv.Itoa)
	_, err := first.WriteTo(&snapshot)
	require.NoError(t, err)
	for range testkit.Long(400) {
		p := pool.Must[string](&pool.Options[string]{Shards: 512})
		testkit.MustInsert(t, p, "a")
		q, err := pool.ReadFrom[string](bytes.NewReader(snapshot.Bytes()), &pool.Options[string]{Shards: 128})
		require.NoError(t, err)
		require.Equal(t, 100, q.Clear())
	}
	stop()
}

// What an idle pool, or an idle Worker, keeps from the garbage collector.

// A Worker that is open and idle keeps no memory that Trim gives back.
func TestIdleWorkerKeepsNoTrimmedPage(t *testing.T) {
	type large [1 << 10]byte
	const n, apart = 12 << 10, 64 // each page has more slots than that
	type filled struct {
		*testing.T
		p  *pool.Pool[large]
		w  *pool.Worker[large]
		hs []pool.Handle[large]
	}
	for name, use := range map[string]func(f *filled){
		// The Worker has the table of the peak.
		"it did everything": func(f *filled) {
			for _, h := range f.hs {
				require.True(f, f.w.Remove(h), "the value should be live")
			}
		},
		"it removed one": func(f *filled) {
			require.True(f, f.w.Remove(f.hs[0]), "the value should be live")
			require.Equal(f, n-1, f.p.RemoveBatch(f.hs))
		},
		"it was flushed": func(f *filled) {
			for _, h := range f.hs {
				require.True(f, f.w.Remove(h), "the value should be live")
			}
			f.w.Flush()
		},
		// Its arrays had slots of many pages, which it has handed out.
		"it used all pages": func(f *filled) {
			for range 5 {
				for i := 0; i < n; i += apart {
					require.True(f, f.w.Remove(f.hs[i]), "the value should be live")
				}
				for i := 0; i < n; i += apart {
					var err error
					f.hs[i], err = f.w.Insert(large{})
					require.NoError(f, err)
				}
			}
			f.p.RemoveBatch(f.hs)
		},
		// What it had removed under a guard went to the pool, all at once.
		"it gave slots away": func(f *filled) {
			g := f.p.Pin()
			for i, before := 0, 0; i < n; i += apart { // under FIFO it keeps none
				require.True(f, f.w.Remove(f.hs[i]), "the value should be live")
				now := f.p.Stats().Cached
				if now < before {
					break
				}
				before = now
			}
			g.Unpin()
			f.p.RemoveBatch(f.hs)
		},
	} {
		for _, capacity := range []int{0, 2 * n} {
			if testkit.Race && capacity > 0 {
				continue // it has one goroutine
			}
			for _, reuse := range testkit.Reuses {
				t.Run(name+"/"+fmt.Sprintf("Capacity=%d/", capacity)+testkit.NameOf(reuse), func(t *testing.T) {
					p := pool.Must(&pool.Options[large]{Capacity: capacity, Reuse: reuse, Shards: 1})
					f := &filled{T: t, p: p, w: p.Worker()}
					defer f.w.Close()
					for range n {
						h, err := f.w.Insert(large{})
						require.NoError(t, err)
						f.hs = append(f.hs, h)
					}
					use(f)
					require.NoError(t, p.Synchronize(t.Context()))
					before := testkit.Heap()
					freed := p.Trim()
					require.Greater(t, freed, int64(10<<20), "bytes that Trim gave back")
					require.Greater(t, before-testkit.Heap(), freed*9/10, "bytes that the Go heap got")
					runtime.KeepAlive(f)
				})
			}
		}
	}
}

// cycle runs one cycle of the garbage collector, and waits until the finalizers that it found have
// run, which done tells.
func cycle(t testing.TB, done func() bool) {
	t.Helper()
	testkit.Cycle(t)
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end) && !done(); {
		time.Sleep(time.Millisecond)
	}
}

// gone is for cycle: a further cycle frees what the finalizers have let go.
func gone(refs []weak.Pointer[payload]) func() bool {
	return func() bool { runtime.GC(); return kept(refs) == 0 }
}

// A pool with a Capacity or a MaxLimbo that nobody uses lets go, within two cycles, of all that was
// removed before the guards that are pinned, although guards have overlapped all the time.
func TestIdlePoolLetsGoBesideGuards(t *testing.T) {
	for _, o := range []pool.Options[holder]{{Capacity: 20_000}, {Capacity: 20_000, Shards: 1}, {MaxLimbo: 20_000}} {
		for _, o.Reuse = range testkit.Reuses {
			for _, c := range []struct{ guards, each int }{{1, 20}, {10, 3}, {100, 70}} {
				t.Run(fmt.Sprintf("%s/guards=%d/each=%d", describe(&o), c.guards, c.each), func(t *testing.T) {
					p := pool.Must(&o)
					hs, refs := insertPayloads(c.guards*c.each, p.Insert)
					late, lateRefs := insertPayloads(c.each, p.Insert)
					guards := make([]pool.Guard[holder], c.guards+1)
					guards[0] = p.Pin()
					for k := range c.guards {
						require.Equal(t, c.each, p.RemoveBatch(hs[k*c.each:][:c.each]))
						guards[k+1] = p.Pin()
						guards[k].Unpin()
					}
					require.Equal(t, c.each, p.RemoveBatch(late))
					cycle(t, gone(refs))
					require.Zero(t, kept(refs), "values that were removed before the guard")
					require.Equal(t, c.each, kept(lateRefs), "values that the guard may read")
					guards[c.guards].Unpin()
					cycle(t, gone(lateRefs))
					require.Zero(t, kept(lateRefs), "values that no guard keeps")
					runtime.KeepAlive(p)
				})
			}
		}
	}
}
