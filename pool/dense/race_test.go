package dense_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// TestManyGoroutines runs phases in which goroutines create, kill and look up at once, up
// to the limit and beyond it. Each handle is issued once, each value killed once and found
// until then and in the next phase, and stale handles are refused, while their slots get
// new values. The race detector catches a handle that is published before its value.
func TestManyGoroutines(t *testing.T) {
	for _, o := range []dense.Options[int]{{}, {Unordered: true}, {Capacity: 400}, {Capacity: 3000, Unordered: true}} {
		t.Run(fmt.Sprintf("capacity=%d unordered=%v", o.Capacity, o.Unordered), func(t *testing.T) { testManyGoroutines(t, o) })
	}
}

func testManyGoroutines(t *testing.T, o dense.Options[int]) {
	const goroutines, steps = 4, 150
	var destroyed []handle
	o.OnDestroy = func(h handle, _ *int) { destroyed = append(destroyed, h) }
	s := tiny(t, &o)
	seed := testkit.Seed(t)
	issued := map[handle]bool{}
	var stale []handle
	for phase := range max(6, testkit.Long(24)) {
		// The values of the phase: those that are there, and those that will be created.
		old := s.Len()
		handles := make([]atomic.Uint64, old+goroutines*steps)
		kills := make([]atomic.Int32, len(handles))
		ids := slices.Grow(slices.Clone(s.Values()), goroutines*steps)
		for i, h := range s.Handles() {
			handles[i].Store(uint64(h))
		}
		for i := range goroutines * steps {
			ids = append(ids, phase*goroutines*steps+i)
		}
		var refused atomic.Bool
		step := func(i int, rnd *rand.Rand) error {
			h, err := s.Create(ids[i])
			if err != nil {
				refused.Store(true)
				if !errors.Is(err, pool.ErrFull) {
					return err
				}
			}
			handles[i].Store(uint64(h))
			for _, at := range []int{(i%steps*7 + phase) % len(handles), rnd.IntN(len(handles))} { // the first is the same for all
				h := handle(handles[at].Load())
				if h == 0 {
					continue
				}
				if v, ok := s.Get(h); !ok || *v != ids[at] {
					return fmt.Errorf("%v, of %d, is found: %v", h, ids[at], ok)
				}
				if rnd.IntN(3) > 0 {
					continue
				}
				if s.Kill(h) {
					kills[at].Add(1)
				}
				if st := s.State(h); st != dense.Dead {
					return fmt.Errorf("%v is %v, and was killed", h, st)
				}
			}
			if len(stale) > 0 {
				h := stale[rnd.IntN(len(stale))]
				if _, ok := s.Get(h); ok || s.Kill(h) || s.State(h) != dense.Unused {
					return fmt.Errorf("%v lives", h)
				}
				// Perhaps the next handle. That it is guessed orders nothing.
				if v, ok := s.Get(h + 2<<32); ok && *v < 0 {
					return fmt.Errorf("%v has value %d", h+2<<32, *v)
				}
			}
			return nil
		}
		var g errgroup.Group
		for n := range goroutines {
			g.Go(func() error {
				rnd := rand.New(rand.NewPCG(seed, uint64(phase*goroutines+n)))
				for i := range steps {
					if err := step(old+n*steps+i, rnd); err != nil {
						return err
					}
				}
				return nil
			})
		}
		require.NoError(t, g.Wait())

		created := 0
		live := map[handle]int{}
		var dead []handle
		for i := range handles {
			h := handle(handles[i].Load())
			if h == 0 {
				continue
			}
			if i >= old {
				created++
				require.Falsef(t, issued[h], "%v was issued before", h)
				issued[h] = true
			}
			if n := kills[i].Load(); n == 0 {
				live[h] = ids[i]
			} else {
				require.EqualValuesf(t, 1, n, "kills of %v", h)
				dead = append(dead, h)
			}
		}
		if refused.Load() {
			require.Equal(t, o.Capacity, old+created, "places are left, and a Create was refused")
		}
		destroyed = nil
		c, d := s.Refresh()
		require.Equal(t, [2]int{created, len(dead)}, [2]int{c, d})
		require.ElementsMatch(t, dead, destroyed)
		contents := map[handle]int{}
		for h, v := range s.All() {
			contents[h] = *v
		}
		require.Equal(t, live, contents)
		require.NoError(t, dense.Check(s))
		if phase%5 == 4 {
			s.Clear()
			dead = slices.Collect(maps.Keys(live))
		}
		stale = append(stale, dead...)
		stale = stale[max(0, len(stale)-500):]
	}
}
