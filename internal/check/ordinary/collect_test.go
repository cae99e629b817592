package ordinary_test

import (
	"bytes"
	"maps"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/inside"
	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// payload is large enough to be an object of its own.
type payload [64]byte

// holder is a value that keeps a payload.
type holder = *payload

// A reclaimed slot keeps nothing from the garbage collector, whichever verb removed its value,
// also in its last life and in a Worker's reach. It catches a missing clearing anywhere.
func TestReclaimedValuesAreCollected(t *testing.T) {
	const n = 100
	for name, remove := range removers[holder]() {
		t.Run(name, func(t *testing.T) {
			for _, reuse := range testkit.Reuses {
				for _, origin := range []uint32{1, testkit.LastGeneration} {
					for _, reset := range []func(*holder){nil, func(v *holder) { *v = nil }} {
						p := testkit.Tiny(t, &pool.Options[holder]{Shards: 2, Reuse: reuse, Origin: origin, Reset: reset})
						w := p.Worker()
						refs := make([]weak.Pointer[payload], n)
						hs := make([]pool.Handle[holder], n)
						testkit.Apart(func() {
							for i := range hs {
								v := new(payload)
								refs[i] = weak.Make(v)
								hs[i], _ = w.Insert(v)
							}
						})
						runtime.GC()
						for i := range refs {
							require.NotNil(t, refs[i].Value(), "collected while it lives")
						}
						testkit.Apart(func() { remove(p, w, hs) })
						w.Close()
						testkit.RequireReclaimed(t, p)
						testkit.Eventually(t, func() bool {
							for i := range refs {
								if refs[i].Value() != nil {
									return false
								}
							}
							return true
						}, "%v, Origin %d", reuse, origin)
						runtime.KeepAlive(p)
					}
				}
			}
		})
	}
}

// An exhausted slot keeps not even what Reset would keep.
func TestExhaustedSlotKeepsNoBuffer(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[holder]{Capacity: 1, Origin: testkit.LastGeneration, Reset: func(*holder) {}})
	var ref weak.Pointer[payload]
	testkit.Apart(func() {
		v := new(payload)
		ref = weak.Make(v)
		h, _ := p.Insert(v)
		p.Remove(h)
	})
	require.Equal(t, 1, testkit.RequireReclaimed(t, p).Exhausted)
	testkit.Eventually(t, func() bool { return ref.Value() == nil }, "an exhausted slot's buffer")
	runtime.KeepAlive(p)
}

// Slots that a Worker keeps and reclaims by itself let their values go too: after some more
// operations only the bag, whose grace period is not over, may have values.
func TestWorkersTurnedSlotsHoldNothingBack(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[holder]{Shards: 1})
	w := p.Worker()
	refs := make([]weak.Pointer[payload], 0, 1000)
	testkit.Apart(func() {
		for range 1000 {
			v := new(payload)
			refs = append(refs, weak.Make(v))
			h, _ := w.Insert(v)
			w.Remove(h)
		}
	})
	testkit.Eventually(t, func() bool {
		held := 0
		for i := range refs {
			if refs[i].Value() != nil {
				held++
			}
		}
		return held <= 64
	}, "values of a Worker's slots")
	w.Close()
}

// A guard keeps what it has seen from the garbage collector, by itself.
func TestGuardKeepsRemovedValuesAlive(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[holder]{Shards: 1})
	var ref weak.Pointer[payload]
	h, _ := func() (pool.Handle[holder], error) {
		v := new(payload)
		ref = weak.Make(v)
		return p.Insert(v)
	}()
	g := p.Pin()
	p.Remove(h)
	for range 200 {
		p.Remove(testkit.MustInsert(t, p, nil))
	}
	runtime.GC()
	runtime.GC()
	require.NotNil(t, ref.Value())
	g.Unpin()
}

// A pool that nothing refers to is collected whole, with its open Workers and Reservations.
func TestDroppedPoolIsCollected(t *testing.T) {
	var refs []weak.Pointer[payload]
	testkit.Apart(func() {
		for _, reuse := range testkit.Reuses {
			p := pool.Must(&pool.Options[holder]{Reuse: reuse})
			v := new(payload)
			refs = append(refs, weak.Make(v))
			_, _ = p.Insert(v)
			w := p.Worker()
			h, _ := w.Insert(nil)
			w.Remove(h)
			_, _ = p.Reserve()
			for range p.All() {
			}
		}
	})
	testkit.Eventually(t, func() bool { return refs[0].Value() == nil && refs[1].Value() == nil }, "the pool's values")
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
			t.Run(reuse.String()+" "+name, func(t *testing.T) {
				p := pool.Must[holder](&pool.Options[holder]{Reuse: reuse})
				refs := make([]weak.Pointer[payload], n)
				testkit.Apart(func() {
					hs := make([]pool.Handle[holder], n)
					for i := range hs {
						v := new(payload)
						refs[i] = weak.Make(v)
						hs[i], _ = p.Insert(v)
					}
					remove(p, nil, hs)
				})
				// Two cycles; a finalizer runs some time after the first.
				runtime.GC()
				for end := time.Now().Add(20 * time.Second); inside.Waiting(p) > 0 && time.Now().Before(end); {
					time.Sleep(time.Millisecond)
				}
				runtime.GC()
				left := 0
				for _, r := range refs {
					if r.Value() != nil {
						left++
					}
				}
				require.Zero(t, left, "removed values that are kept")
				runtime.KeepAlive(p)
			})
		}
	}
}

// The sentinel does not keep its pool from being collected.
func TestSentinelDoesNotKeepThePool(t *testing.T) {
	var ref weak.Pointer[pool.Pool[holder]]
	testkit.Apart(func() {
		p := pool.Must[holder](nil)
		testkit.MustInsert(t, p, new(payload))
		ref = weak.Make(p)
	})
	testkit.Eventually(t, func() bool { return ref.Value() == nil }, "the pool is kept")
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
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		p := pool.Must[string](&pool.Options[string]{Shards: 4096})
		testkit.MustInsert(t, p, "a")
		q, err := pool.ReadFrom[string](bytes.NewReader(snapshot.Bytes()), &pool.Options[string]{Shards: 1024})
		require.NoError(t, err)
		require.Equal(t, 100, q.Clear())
	}
	stop()
}
