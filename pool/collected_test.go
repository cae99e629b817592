//go:build go1.25

package pool_test

import (
	"runtime"
	"runtime/pprof"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// Not on Go 1.24, where finalizers and cleanups have one goroutine together.

// blockEnds makes a finalizer or cleanups of the program block until the test ends. Other tests must not run
// beside it.
func blockEnds(t *testing.T, arrange func(block func())) {
	blocked, release, left := make(chan bool, 1), make(chan bool), make(chan bool, 1000)
	n := 0
	testkit.Apart(func() {
		arrange(func() {
			select {
			case blocked <- true:
			default:
			}
			<-release
			left <- true
		})
	})
	testkit.Eventually(t, func() bool { n += len(blocked); return n > 0 }, "the program's own call")
	t.Cleanup(func() { close(release); <-left })
}

// If a finalizer of the program blocks, or cleanups do, an idle pool still lets go of what was removed, and
// dropped Workers and Reservations come back. The profile of guards forgets those of pools that are gone.
func TestBlockedFinalizersAndCleanups(t *testing.T) {
	for name, arrange := range map[string]func(block func()){
		"no other runs": nil,
		"finalizer": func(block func()) {
			runtime.SetFinalizer(new(payload), func(*payload) { block() })
		},
		// One blocks a goroutine, of which there is one for four processors.
		"cleanups": func(block func()) {
			for range 100 {
				runtime.AddCleanup(new(payload), func(block func()) { block() }, block)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			traced := 0
			if profile := pprof.Lookup(pool.ProfileName); profile != nil {
				traced = profile.Count()
			}
			p := pool.Must(&pool.Options[holder]{Shards: 1})
			hs, refs := insertPayloads(40, p.Insert)
			if arrange != nil {
				blockEnds(t, arrange)
			}
			for _, hs := range [][]pool.Handle[holder]{hs[:20], hs[20:]} { // the sentinel is set again
				require.Equal(t, 20, p.RemoveBatch(hs))
				left := kept(refs) - 20
				testkit.Eventually(t, func() bool { return kept(refs) <= left }, "removed values of an idle pool")
			}
			testkit.Apart(func() {
				for range 3 {
					_, err := p.Worker().Insert(nil)
					require.NoError(t, err)
					_, err = p.Reserve()
					require.NoError(t, err)
				}
			})
			testkit.Eventually(t, func() bool {
				st := p.Stats()
				return st.Workers == 0 && st.Cached == 0 && st.Reserved == 0
			}, "dropped Workers and Reservations")
			testkit.Apart(func() {
				p := pool.Must(&pool.Options[int]{TraceGuards: 1})
				p.Pin()
				require.Equal(t, traced+1, pprof.Lookup(pool.ProfileName).Count())
			})
			testkit.Eventually(t, func() bool { return pprof.Lookup(pool.ProfileName).Count() <= traced }, "guards of a pool that is gone")
			if arrange == nil {
				testkit.Settle(t) // the other call of each does nothing
			}
			st := p.Stats()
			require.EqualValues(t, 6, st.Dropped)
			require.EqualValues(t, 0, st.Workers)
			require.EqualValues(t, 0, st.Reserved)
			require.Equal(t, 3, p.Clear())
			testkit.RequireReclaimed(t, p)
		})
	}
}

// What is closed in time is not given back once more, and its objects go.
func TestClosedWorkersAreNotDropped(t *testing.T) {
	p := pool.Must[int](nil)
	testkit.Apart(func() {
		for range 10 {
			p.Worker().Close()
		}
	})
	testkit.Settle(t)
	require.Zero(t, p.Stats().Dropped)
	require.Zero(t, p.Stats().Workers)
}
