package pool_test

import (
	"bytes"
	"maps"
	"runtime"
	"strconv"
	"strings"
	"testing"
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
