package dense_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// TestManyGoroutines runs phases in which goroutines create, kill and look up at once, up
// to the limit and beyond it. Each value is found until the next phase and killed once, and
// a guess at a next handle finds a whole value or none. The race detector catches a handle
// that is published before its value.
func TestManyGoroutines(t *testing.T) {
	const goroutines, steps = 4, 150
	for _, o := range []dense.Options[int]{{}, {Unordered: true}, {Capacity: 400}, {Capacity: 3000, Unordered: true}} {
		s, seed := tiny(t, &o), testkit.Seed(t)
		live := 0
		var stale []handle
		for phase := range max(6, testkit.Long(24)) {
			var board [16]atomic.Uint64 // handles that all goroutines use
			var created atomic.Int64
			var killed [goroutines][]handle
			testkit.Together(goroutines, func(n int) {
				rnd := rand.New(rand.NewPCG(seed, uint64(phase*goroutines+n)))
				for i := range steps {
					h, err := createOrPanic(s, rnd.IntN(8), 1+i)
					if err == nil && h != 0 {
						created.Add(1)
						board[rnd.IntN(len(board))].Store(uint64(h))
					} else if err == nil {
						// its init has panicked
					} else if o.Capacity == 0 || !errors.Is(err, pool.ErrFull) {
						t.Error(err)
					}
					h = handle(board[rnd.IntN(len(board))].Load())
					if v, ok := s.Pointer(h); ok != (h != 0) || ok && *v == 0 {
						t.Errorf("%v is found: %v", h, ok)
					}
					if rnd.IntN(3) == 0 && s.Kill(h) {
						killed[n] = append(killed[n], h)
					}
					if len(stale) > 0 { // perhaps the slot's next handle; that it is guessed orders nothing
						h = stale[rnd.IntN(len(stale))]
						if v, ok := s.Pointer(h + 2<<32); s.Alive(h) || ok && *v == 0 {
							t.Errorf("%v lives, or the next handle shows an unwritten value", h)
						}
					}
				}
			})
			stale = slices.Concat(killed[:]...)
			c, d := s.Refresh()
			require.Equal(t, [2]int{int(created.Load()), len(stale)}, [2]int{c, d})
			live += c - d
			require.Equal(t, live, s.Len())
			require.NoError(t, dense.Check(s))
		}
	}
}

// createOrPanic creates v by Create, or by CreateFunc, whose init panics sometimes; then it returns
// neither a handle nor an error.
func createOrPanic(s *dense.Store[int], how, v int) (h handle, err error) {
	if how < 5 {
		return s.Create(v)
	}
	testkit.Recovered(func() {
		h, err = s.CreateFunc(func(_ handle, at *int) {
			*at = v
			if how == 5 {
				panic(errTest)
			}
		})
	})
	return h, err
}
