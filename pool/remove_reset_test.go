package pool_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// object has a buffer that is worth keeping.
type object struct {
	buf    []byte
	resets int
	note   string
}

func resetObject(v *object) { v.buf, v.note, v.resets = v.buf[:0], "", v.resets+1 }

// No removal calls Reset, whichever verb it is. A Reset that panics does so in the call that reclaims.
func TestRemovalsCallNoReset(t *testing.T) {
	for name, remove := range removers[int]() {
		for _, origin := range []uint32{1, testkit.LastGeneration} {
			p := tiny(t, &pool.Options[int]{Shards: 1, Origin: origin, Reset: func(*int) { panic("no") }})
			w := p.Worker()
			testkit.Fill(t, p, 600, testkit.Number)
			for p.Len() > 0 {
				h := first(p)
				remove(p, w, []pool.Handle[int]{h})
				require.Falsef(t, p.Contains(h), "%s, Origin %d: a value is live after its removal", name, origin)
			}
			w.Close()
			calls := 0
			for p.Stats().Limbo > 0 {
				if v := testkit.Recovered(func() { assert.NoError(t, p.Synchronize(t.Context())) }); v != nil {
					require.Equal(t, "no", v)
					calls++
				}
			}
			// What was moved out is not Reset.
			want := 600
			if strings.HasSuffix(name, "Take") || name == "Drain" {
				want = 0
			}
			require.Equal(t, want, calls, name)
		}
	}
}

// The garbage collector's goroutines must not run the user's Reset, which may panic, exit or
// block: a Worker or Reservation that is dropped comes back without it, and a goroutine that
// reclaims later calls it.
func TestResetRunsOnUsersGoroutines(t *testing.T) {
	var calling atomic.Bool // the test is in calls that may reclaim
	p := tiny(t, &pool.Options[object]{Shards: 1, Reset: func(v *object) {
		assert.True(t, calling.Load(), "Reset is called by the garbage collector's goroutine")
		resetObject(v)
	}})
	for range 10 {
		calling.Store(true)
		testkit.Apart(func() {
			w := p.Worker()
			for range 30 {
				_, _ = w.Insert(object{})
			}
			hs := testkit.Fill(t, p, 64, func(int) object { return object{} })
			w.Remove(hs[0]) // with the others it completes a batch
			testkit.Each(hs[1:], func(h pool.Handle[object]) { p.Remove(h) })
			for range 70 {
				_, _ = p.Reserve()
			}
		})
		calling.Store(false)
		testkit.Eventually(t, func() bool { st := p.Stats(); return st.Reserved == 0 && st.Cached == 0 }, "dropped")
		calling.Store(true)
		p.Clear()
		testkit.RequireReclaimed(t, p)
	}
}

// With a Reset, the slot of a refused value keeps what Reset leaves, as after a removal.
func TestRefusedValueIsReset(t *testing.T) {
	p := tiny(t, &pool.Options[[]byte]{Capacity: 1, Reset: func(v *[]byte) { *v = (*v)[:0] }})
	refusal := errors.New("no")
	_, err := p.TryInsertFunc(func(_ pool.Handle[[]byte], v *[]byte) error {
		*v = append(make([]byte, 0, 100), "text"...)
		return refusal
	})
	require.Same(t, refusal, err)
	_, err = p.TryInsertFunc(func(_ pool.Handle[[]byte], v *[]byte) error {
		require.Empty(t, *v)
		require.Equal(t, 100, cap(*v))
		return nil
	})
	require.NoError(t, err)
}

// A Drain whose removals call Resets that panic, or end their goroutine, yields each value all the same.
func TestDrainYieldsAllBesideResetsThatFail(t *testing.T) {
	for name, fail := range map[string]func(){"panic": func() { panic("no") }, "Goexit": runtime.Goexit} {
		fails, removing := 0, false
		p := tiny(t, &pool.Options[int]{Shards: 1, Reset: func(*int) {
			if fails++; fails%3 == 0 && removing {
				fail()
			}
		}})
		yielded := map[int]int{}
		const n = 500
		for round := range 4 {
			removing = false
			hs := testkit.Fill(t, p, n, func(i int) int { return round*n + i })
			removing = true
			for i := 0; i < n; i += 2 { // their Resets are the Drain's to call
				testkit.Apart(func() { p.Remove(hs[i]) })
				yielded[round*n+i]++
			}
			for p.Len() > 0 {
				testkit.Apart(func() {
					for _, v := range p.Drain() {
						yielded[v]++
					}
				})
			}
		}
		require.Greater(t, fails, n/2, name)
		require.Equal(t, 4*n, len(yielded), "values that were yielded or removed: %s", name)
		for v, k := range yielded {
			require.Equal(t, 1, k, "%s: value %d", name, v)
		}
	}
}
