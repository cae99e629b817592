package dense_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"
	"golang.org/x/sync/errgroup"

	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// owned is a value that only its owner writes, unless the store gives its position to
// two.
type owned struct {
	id    uint64
	check uint64 // ^id
	hits  atomic.Uint32
}

func (v *owned) sound() bool { return v.check == ^v.id }

// TestManyGoroutines runs phases in which goroutines create, kill and look up at once. It
// checks that each handle is issued once, each kill counted once, and every value found,
// in a phase and after it.
func TestManyGoroutines(t *testing.T) {
	for _, o := range []dense.Options[owned]{{}, {Unordered: true}, {Capacity: 400}, {Capacity: 3000, Unordered: true}} {
		t.Run(fmt.Sprintf("capacity=%d unordered=%v", o.Capacity, o.Unordered), func(t *testing.T) { testManyGoroutines(t, o) })
	}
}

func testManyGoroutines(t *testing.T, o dense.Options[owned]) {
	const goroutines = 4
	destroyed := map[uint64]bool{}
	o.OnDestroy = func(h pool.Handle[owned], v *owned) {
		if !v.sound() || destroyed[v.id] {
			t.Errorf("%v is destroyed with value %d, before: %v", h, v.id, destroyed[v.id])
		}
		destroyed[v.id] = true
	}
	s := tiny(t, &o)
	live := map[pool.Handle[owned]]uint64{} // by handle, its value's id
	past := map[pool.Handle[owned]]bool{}
	for phase := range max(6, long(24)) {
		type outcome struct {
			created map[pool.Handle[owned]]uint64
			killed  []pool.Handle[owned]
		}
		outcomes := make([]outcome, goroutines)
		before := s.Handles()
		var issued sync.Map // what all goroutines created in this phase
		var g errgroup.Group
		for n := range goroutines {
			g.Go(func() error {
				out := &outcomes[n]
				out.created = map[pool.Handle[owned]]uint64{}
				x := uint64(phase*goroutines+n)*0x9E3779B97F4A7C15 + 1
				for i := range 150 {
					x ^= x << 13
					x ^= x >> 7
					x ^= x << 17
					id := uint64(phase)<<32 | uint64(n)<<16 | uint64(i)
					h, err := s.Create(owned{id: id, check: ^id})
					if err == nil {
						out.created[h] = id
						issued.Store(h, id)
						if v, ok := s.Get(h); !ok || v.id != id || v.hits.Inc() != 1 {
							return fmt.Errorf("%v was created with %d: %v, %v", h, id, v, ok)
						}
					} else if err != pool.ErrFull {
						return err
					}
					// All goroutines kill the same handles, and some new ones of each
					// other.
					if len(before) > 0 {
						h := before[(i*7+phase)%len(before)]
						if v, ok := s.Get(h); !ok || v.id != live[h] || !v.sound() {
							return fmt.Errorf("%v, of %d, is found %v as %v", h, live[h], ok, v)
						}
						if i%3 == 0 && s.Kill(h) {
							out.killed = append(out.killed, h)
						}
					}
					if x%4 == 0 {
						most := 10
						issued.Range(func(k, v any) bool {
							h, id := k.(pool.Handle[owned]), v.(uint64)
							if got, ok := s.Get(h); !ok || got.id != id || !got.sound() {
								t.Errorf("%v, of %d, is found %v as %v", h, id, ok, got)
							}
							if x%8 == 0 && s.Kill(h) {
								out.killed = append(out.killed, h)
							}
							if st := s.State(h); st == dense.Unused || x%8 == 0 && st != dense.Dead {
								t.Errorf("%v is %v", h, st)
							}
							most--
							return most > 0
						})
					}
				}
				return nil
			})
		}
		require.NoError(t, g.Wait())
		created, killed := 0, 0
		for _, out := range outcomes {
			for h, id := range out.created {
				require.Falsef(t, past[h], "%v was issued before", h)
				past[h] = true
				live[h] = id
				created++
			}
		}
		for _, out := range outcomes {
			for _, h := range out.killed {
				_, lives := live[h]
				require.Truef(t, lives, "%v was killed twice", h)
				delete(live, h)
				killed++
			}
		}
		clear(destroyed)
		gotCreated, gotKilled := s.Refresh()
		require.Equal(t, [2]int{created, killed}, [2]int{gotCreated, gotKilled})
		require.Len(t, destroyed, killed)
		require.Equal(t, len(live), s.Len())
		for h, v := range s.All() {
			id, lives := live[h]
			require.Truef(t, lives && v.id == id && v.sound(), "%v has value %d, want %d", h, v.id, id)
		}
		requireSound(t, s)
		if o.Capacity > 0 {
			require.LessOrEqual(t, s.Len(), o.Capacity)
		}
		if phase%5 == 4 {
			s.Clear()
			clear(live)
		}
	}
}

// TestStaleHandlesAreRefusedMeanwhile looks stale handles up while their slots get new
// values, and guesses the next handles of these slots: a value found is whole. The race
// detector catches a handle that is published before its value.
func TestStaleHandlesAreRefusedMeanwhile(t *testing.T) {
	s := tiny[int](t, nil)
	var stale []pool.Handle[int]
	for range long(50) {
		hs := fill(t, s, 100)
		for _, h := range hs {
			s.Kill(h)
		}
		s.Refresh()
		stale = append(stale, hs...)
		var g errgroup.Group
		for range 2 {
			g.Go(func() error {
				for i := range 100 {
					if _, err := s.Create(i + 1); err != nil {
						return err
					}
				}
				return nil
			})
			g.Go(func() error {
				for _, h := range stale[max(0, len(stale)-500):] {
					if v, ok := s.Get(h); ok || s.Kill(h) || s.State(h) != dense.Unused {
						return fmt.Errorf("%v lives, as %v", h, v)
					}
					next := h + 2<<32
					if v, ok := s.Get(next); ok && (*v < 1 || *v > 100) {
						return fmt.Errorf("%v has value %d", next, *v)
					}
				}
				return nil
			})
		}
		require.NoError(t, g.Wait())
		require.NoError(t, dense.Check(s))
		s.Clear()
	}
}

// TestPositionsAreExact: goroutines that create beyond the limit get each place once.
func TestPositionsAreExact(t *testing.T) {
	const capacity, goroutines = 100, 4
	for range long(200) {
		s := tiny(t, &dense.Options[int]{Capacity: capacity})
		var created atomic.Int64
		var g errgroup.Group
		for range goroutines {
			g.Go(func() error {
				for range capacity {
					if _, err := s.Create(1); err == nil {
						created.Inc()
					}
				}
				return nil
			})
		}
		require.NoError(t, g.Wait())
		require.EqualValues(t, capacity, created.Load())
		n, _ := s.Refresh()
		require.Equal(t, capacity, n)
		requireSound(t, s)
	}
}

// TestOverlapIsNoticed overlaps calls with a Refresh. The race detector does not object,
// since the calls read nothing that Refresh writes.
func TestOverlapIsNoticed(t *testing.T) {
	inside, leave := make(chan struct{}), make(chan struct{})
	s := tiny(t, &dense.Options[int]{OnDestroy: func(pool.Handle[int], *int) {
		close(inside)
		<-leave
	}})
	hs := fill(t, s, 3)
	s.Kill(hs[0])
	done := make(chan any, 8)
	go func() {
		done <- recovered(func() { s.Refresh() })
	}()
	<-inside
	for range 4 {
		go func() { done <- recovered(func() { s.Get(hs[1]) }) }()
	}
	go func() { done <- recovered(func() { s.Refresh() }) }()
	for range 5 {
		require.Contains(t, fmt.Sprint(<-done), "during Refresh")
	}
	close(leave)
	require.Nil(t, <-done, "the Refresh itself goes on")
	require.Equal(t, 2, s.Len())
	requireSound(t, s)
}
