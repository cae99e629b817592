package dense_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// ledger is what the goroutines of a phase know together.
type ledger struct {
	mu      sync.Mutex
	ids     map[pool.Handle[int]]int // of all handles ever issued
	young   []pool.Handle[int]       // issued in this phase
	killed  map[pool.Handle[int]]bool
	refused int
}

// create creates a value and records it.
func (l *ledger) create(s *dense.Store[int], id int) error {
	h, err := s.Create(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	_, before := l.ids[h]
	switch {
	case err == pool.ErrFull:
		l.refused++
		return nil
	case err != nil || before:
		return fmt.Errorf("%v is issued, before: %v; %w", h, before, err)
	}
	l.ids[h] = id
	l.young = append(l.young, h)
	return nil
}

// kill kills h, if no other goroutine has.
func (l *ledger) kill(s *dense.Store[int], h pool.Handle[int]) error {
	killed := s.Kill(h)
	if st := s.State(h); st != dense.Dead {
		return fmt.Errorf("%v is %v, and was killed", h, st)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if killed && l.killed[h] {
		return fmt.Errorf("%v was killed twice", h)
	}
	l.killed[h] = l.killed[h] || killed
	return nil
}

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
	var destroyed []pool.Handle[int]
	o.OnDestroy = func(h pool.Handle[int], _ *int) { destroyed = append(destroyed, h) }
	s := tiny(t, &o)
	seed := testkit.Seed(t)
	l := ledger{ids: map[pool.Handle[int]]int{}}
	live := map[pool.Handle[int]]int{}
	var stale []pool.Handle[int]
	for phase := range max(6, long(24)) {
		l.young, l.killed, l.refused, destroyed = nil, map[pool.Handle[int]]bool{}, 0, nil
		before := s.Handles()
		var g errgroup.Group
		for n := range goroutines {
			g.Go(func() error {
				rnd := rand.New(rand.NewPCG(seed, uint64(phase*goroutines+n)))
				for i := range steps {
					if len(stale) > 0 { // without a lock, which would order it
						h := stale[rnd.IntN(len(stale))]
						if _, ok := s.Get(h); ok || s.Kill(h) || s.State(h) != dense.Unused {
							return fmt.Errorf("%v lives", h)
						}
						if v, ok := s.Get(h + 2<<32); ok && *v < 0 { // perhaps the next handle
							return fmt.Errorf("%v has value %d", h+2<<32, *v)
						}
					}
					if err := l.create(s, (phase*goroutines+n)*steps+i); err != nil {
						return err
					}
					if len(before) > 0 { // all kill the same
						h := before[(i*7+phase)%len(before)]
						if v, ok := s.Get(h); !ok || *v != live[h] {
							return fmt.Errorf("%v, of %d, is found: %v", h, live[h], ok)
						}
						if i%3 == 0 {
							if err := l.kill(s, h); err != nil {
								return err
							}
						}
					}
					l.mu.Lock()
					h := append(l.young, 0)[rnd.IntN(len(l.young)+1)]
					id := l.ids[h]
					l.mu.Unlock()
					if h == 0 {
						continue
					}
					if v, ok := s.Get(h); !ok || *v != id {
						return fmt.Errorf("%v, of %d, is found: %v", h, id, ok)
					}
					if rnd.IntN(2) == 0 {
						if err := l.kill(s, h); err != nil {
							return err
						}
					}
				}
				return nil
			})
		}
		require.NoError(t, g.Wait())
		if l.refused > 0 {
			require.Equal(t, o.Capacity, len(live)+len(l.young), "places are left, and a Create was refused")
		}
		for _, h := range l.young {
			live[h] = l.ids[h]
		}
		for h, killed := range l.killed {
			require.True(t, killed, "%v is dead, and nobody killed it", h)
			delete(live, h)
			stale = append(stale, h)
		}
		created, gone := s.Refresh()
		require.Equal(t, [2]int{len(l.young), len(l.killed)}, [2]int{created, gone})
		require.ElementsMatch(t, slices.Collect(maps.Keys(l.killed)), destroyed)
		require.Equal(t, live, contents(s))
		require.NoError(t, dense.Check(s))
		if phase%5 == 4 {
			stale = append(stale, s.Handles()...)
			s.Clear()
			clear(live)
		}
		stale = stale[max(0, len(stale)-500):]
	}
}

// contents returns the values of s by their handles.
func contents(s *dense.Store[int]) map[pool.Handle[int]]int {
	all := map[pool.Handle[int]]int{}
	for h, v := range s.All() {
		all[h] = *v
	}
	return all
}
