package pool_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// inserter is InsertFunc of a pool or of a Worker.
type inserter[T any] func(func(pool.Handle[T], *T)) (pool.Handle[T], error)

// bothInserters runs a test with InsertFunc and TryInsertFunc of a pool and of a Worker.
func bothInserters(t *testing.T, opts pool.Options[stamp], f func(t *testing.T, p *pool.Pool[stamp], insert inserter[stamp])) {
	for _, reuse := range testkit.Reuses {
		for way := range 4 {
			t.Run(fmt.Sprintf("%s Worker %v Try %v", testkit.NameOf(reuse), way&1 != 0, way&2 != 0), func(t *testing.T) {
				o := opts
				o.Reuse = reuse
				p := tiny(t, &o)
				w := p.Worker()
				insert, try := p.InsertFunc, p.TryInsertFunc
				if way&1 != 0 {
					insert, try = w.InsertFunc, w.TryInsertFunc
				}
				if way&2 != 0 {
					insert = func(init func(pool.Handle[stamp], *stamp)) (pool.Handle[stamp], error) {
						return try(func(h pool.Handle[stamp], v *stamp) error { init(h, v); return nil })
					}
				}
				f(t, p, insert)
				w.Close()
				p.Clear()
				st := testkit.RequireReclaimed(t, p)
				require.Equal(t, st.Allocated, st.Free)
			})
		}
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

// An init that fails gives its slot back, which burns its generation: given back
// as it was, the freelist breaks once three goroutines meet.
func TestInitThatFailsLosesNoSlot(t *testing.T) {
	bothInserters(t, pool.Options[stamp]{Shards: 2, Capacity: 32}, func(t *testing.T, p *pool.Pool[stamp], insert inserter[stamp]) {
		seen := map[pool.Handle[stamp]]bool{}
		for i := range 600 {
			var shown pool.Handle[stamp]
			v := testkit.Apart(func() {
				_, _ = insert(func(h pool.Handle[stamp], v *stamp) {
					shown = h
					v.self = v
					if i%2 == 0 {
						panic(h)
					}
					runtime.Goexit()
				})
			})
			if i%2 == 0 {
				require.Equal(t, shown, v, "the panic's value")
			} else {
				require.Nil(t, v)
			}
			require.NotZero(t, shown)
			require.False(t, seen[shown], "%v twice", shown)
			seen[shown] = true
			require.False(t, p.Contains(shown))
		}
	})
}

func TestInitMayInsert(t *testing.T) {
	bothInserters(t, pool.Options[stamp]{Shards: 1, Capacity: 12}, func(t *testing.T, p *pool.Pool[stamp], insert inserter[stamp]) {
		for round := range 50 {
			depth := 0
			var init func(h pool.Handle[stamp], v *stamp)
			var made []pool.Handle[stamp]
			init = func(h pool.Handle[stamp], v *stamp) {
				require.Equal(t, stamp{}, *v)
				*v = stamp{uint64(depth), v}
				if depth++; depth < 12 {
					k, err := insert(init)
					require.NoErrorf(t, err, "depth %d", depth)
					require.NotEqual(t, h, k)
					made = append(made, k)
				} else {
					_, err := insert(init)
					require.ErrorIs(t, err, pool.ErrFull)
					if round%2 == 0 {
						panic("innermost")
					}
				}
				require.Equal(t, v, v.self, "another goroutine has the slot")
			}
			v := testkit.Recovered(func() {
				h, err := insert(init)
				require.NoError(t, err)
				made = append(made, h)
			})
			if round%2 == 0 {
				require.Equal(t, "innermost", v)
				require.Zero(t, p.Len())
			} else {
				require.Equal(t, 12, p.Len())
			}
			require.Equal(t, len(made), p.RemoveBatch(made))
		}
	})
}

// Of many goroutines that settle one Reservation at once, one succeeds.
func TestReservationSettlesOnceUnderContention(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Capacity: 2})
	for range testkit.Long(500) {
		r := mustReserve(t, p)
		var wg sync.WaitGroup
		var settled atomic.Int32
		for _, settle := range []func(){func() { r.Commit() }, r.Cancel, func() { r.Commit() }, r.Cancel} {
			wg.Add(1)
			go func() {
				defer wg.Done()
				if testkit.Recovered(settle) == nil {
					settled.Inc()
				}
			}()
		}
		wg.Wait()
		require.EqualValues(t, 1, settled.Load())
		p.Clear()
	}
	require.Equal(t, 2, testkit.RequireReclaimed(t, p).Free)
}
