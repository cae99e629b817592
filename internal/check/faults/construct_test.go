package faults_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// plain is a value without pointers.
type plain struct{ id, twice uint64 }

// inserter is InsertFunc of a pool or of a Worker.
type inserter[T any] func(func(pool.Handle[T], *T)) (pool.Handle[T], error)

// bothInserters runs a test with a pool's InsertFunc and with a Worker's.
func bothInserters(t *testing.T, opts pool.Options[stamp], f func(t *testing.T, p *pool.Pool[stamp], insert inserter[stamp])) {
	bothTriers(t, opts, func(t *testing.T, p *pool.Pool[stamp], insert inserter[stamp], try trier[stamp]) {
		t.Run("InsertFunc", func(t *testing.T) { f(t, p, insert) })
		t.Run("TryInsertFunc", func(t *testing.T) {
			f(t, p, func(init func(pool.Handle[stamp], *stamp)) (pool.Handle[stamp], error) {
				return try(func(h pool.Handle[stamp], v *stamp) error { init(h, v); return nil })
			})
		})
	})
}

// trier is TryInsertFunc of a pool or of a Worker.
type trier[T any] func(func(pool.Handle[T], *T) error) (pool.Handle[T], error)

// bothTriers is bothInserters with either verb.
func bothTriers(t *testing.T, opts pool.Options[stamp], f func(*testing.T, *pool.Pool[stamp], inserter[stamp], trier[stamp])) {
	for _, reuse := range testkit.Reuses {
		for _, worker := range []bool{false, true} {
			name := reuse.String()
			if worker {
				name += " Worker"
			}
			t.Run(name, func(t *testing.T) {
				o := opts
				o.Reuse = reuse
				p := testkit.Tiny(t, &o)
				if !worker {
					f(t, p, p.InsertFunc, p.TryInsertFunc)
				} else {
					w := p.Worker()
					f(t, p, w.InsertFunc, w.TryInsertFunc)
					w.Close()
				}
				p.Clear()
				st := testkit.RequireReclaimed(t, p)
				require.Equal(t, st.Allocated, st.Free)
			})
		}
	}
}

// If init returns an error, its slot comes back as if it had panicked: nothing goes live, what
// it wrote is zeroed, and the caller gets the same error. It catches a value that goes live
// all the same, a slot that is lost, and one that goes straight back.
func TestInitThatReturnsAnErrorLosesNoSlot(t *testing.T) {
	const capacity = 32
	bothTriers(t, pool.Options[stamp]{Shards: 2, Capacity: capacity}, func(t *testing.T, p *pool.Pool[stamp], _ inserter[stamp], try trier[stamp]) {
		refusal := errors.New("no")
		seen := map[pool.Handle[stamp]]bool{}
		for range 20 * capacity {
			var shown pool.Handle[stamp]
			h, err := try(func(h pool.Handle[stamp], v *stamp) error {
				require.Equal(t, stamp{}, *v)
				*v, shown = stamp{1, v}, h
				return refusal
			})
			require.Same(t, refusal, err)
			require.Zero(t, h)
			require.False(t, seen[shown], "%v twice", shown)
			seen[shown] = true
			testkit.RequireRefused(t, p, shown)
			require.False(t, p.Remove(shown))
			require.Zero(t, p.Len())
		}
		var hs []pool.Handle[stamp]
		for i := range capacity {
			h, err := try(func(_ pool.Handle[stamp], v *stamp) error { v.id = uint64(i); return nil })
			require.NoError(t, err)
			hs = append(hs, h)
		}
		_, err := try(func(pool.Handle[stamp], *stamp) error {
			t.Error("init is called without a slot")
			return nil
		})
		require.ErrorIs(t, err, pool.ErrFull)
		for i, h := range hs {
			require.EqualValues(t, i, p.MustGet(h).id)
		}
	})
}

// With a Reset, the slot of a refused value keeps what Reset leaves, as after a removal.
func TestRefusedValueIsReset(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[[]byte]{Capacity: 1, Reset: func(v *[]byte) { *v = (*v)[:0] }})
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

func TestHandleIsNotLiveDuringInit(t *testing.T) {
	bothInserters(t, pool.Options[stamp]{Shards: 1}, func(t *testing.T, p *pool.Pool[stamp], insert inserter[stamp]) {
		for i := range 300 {
			h, err := insert(func(h pool.Handle[stamp], v *stamp) {
				require.Equal(t, stamp{}, *v)
				v.id = uint64(i)
				testkit.RequireRefused(t, p, h)
				for k := range p.All() {
					require.NotEqual(t, h, k)
				}
			})
			require.NoError(t, err)
			require.EqualValues(t, i, p.MustGet(h).id)
			require.True(t, p.Remove(h))
		}
	})
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
				require.Equal(t, v, v.self, "somebody else has the slot")
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

// Constructors that fail and insert, on several goroutines, in a tiny pool: no
// slot is owned twice. It fails when a burned slot goes straight back.
func TestFailingInitsOnManyGoroutines(t *testing.T) {
	bothInserters(t, pool.Options[stamp]{Shards: 2, Capacity: 16}, func(t *testing.T, p *pool.Pool[stamp], _ inserter[stamp]) {
		var wg sync.WaitGroup
		for k := range 3 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				w := p.Worker()
				defer w.Close()
				refusal := errors.New("no")
				insert := p.TryInsertFunc
				if k == 0 {
					insert = w.TryInsertFunc
				}
				built := 0
				for i := 0; built < testkit.Long(2000); i++ {
					testkit.Recovered(func() {
						h, err := insert(func(_ pool.Handle[stamp], v *stamp) error {
							v.self = v
							v.id = uint64(k)<<32 | uint64(i)
							if k2, err := p.Insert(stamp{id: 1}); err == nil && !p.Remove(k2) {
								t.Errorf("lost %v", k2)
							}
							if v.self != v || v.id != uint64(k)<<32|uint64(i) {
								t.Errorf("the slot under construction has two owners")
							}
							switch i % 6 {
							case 0:
								panic("no")
							case 3:
								return refusal
							}
							return nil
						})
						if err != nil {
							runtime.Gosched() // somebody who is not running holds slots back
						} else {
							built++
							if v, ok := p.Take(h); !ok || v.id != uint64(k)<<32|uint64(i) {
								t.Errorf("%v: %v %v", h, v, ok)
							}
						}
					})
				}
			}()
		}
		testkit.Within(t, wg.Wait)
	})
}

// The zero value, in a slot that had another life, whether T holds pointers or
// not.
func TestReservedValueIsZero(t *testing.T) {
	testReservedValueIsZero(t, plain{1, 2}, plain{})
	testReservedValueIsZero(t, stamp{1, &stamp{}}, stamp{})
	testReservedValueIsZero(t, [2]uint64{1, 2}, [2]uint64{})
	testReservedValueIsZero(t, "text", "")
}

func testReservedValueIsZero[T comparable](t *testing.T, dirty, zero T) {
	t.Helper()
	for _, reuse := range testkit.Reuses {
		p := testkit.Tiny(t, &pool.Options[T]{Reuse: reuse, Shards: 1})
		w := p.Worker()
		for range 200 {
			w.Remove(testkit.MustInsert(t, p, dirty))
			p.Remove(testkit.MustInsert(t, p, dirty))
			r, err := p.Reserve()
			require.NoError(t, err)
			require.Equal(t, zero, *r.Value())
			*r.Value() = dirty
			h := r.Handle()
			require.False(t, p.Contains(h))
			require.Equal(t, 1, p.Stats().Reserved)
			require.Equal(t, h, r.Commit())
			require.Zero(t, p.Stats().Reserved)
			require.Equal(t, dirty, p.MustGet(h))
			require.Equal(t, h, r.Handle(), "Handle stays readable")
			require.True(t, p.Remove(h))

			_, err = w.InsertFunc(func(_ pool.Handle[T], v *T) { require.Equal(t, zero, *v); *v = dirty })
			require.NoError(t, err)
			r, err = p.Reserve()
			require.NoError(t, err)
			*r.Value() = dirty
			r.Cancel()
			testkit.RequireRefused(t, p, r.Handle())
			p.Clear()
		}
		w.Close()
		testkit.RequireReclaimed(t, p)
	}
}

func TestReservationSettlesOnce(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[int]{Capacity: 3})
	for _, first := range []func(*pool.Reservation[int]){
		func(r *pool.Reservation[int]) { r.Commit() }, (*pool.Reservation[int]).Cancel,
	} {
		r, err := p.Reserve()
		require.NoError(t, err)
		first(r)
		for _, again := range []func(){func() { r.Commit() }, r.Cancel, func() { r.Value() }} {
			testkit.RequirePanicText(t, again, "pool: ", "Reservation")
		}
		p.Clear()
		require.Zero(t, testkit.RequireReclaimed(t, p).Reserved)
	}
	var zero pool.Reservation[int]
	for _, use := range []func(){func() { zero.Handle() }, func() { zero.Value() }, func() { zero.Commit() }, zero.Cancel} {
		testkit.RequirePanicText(t, use, "pool: ", "Reserve")
	}
}

// Of many goroutines that settle one Reservation at once, one succeeds.
func TestReservationSettlesOnceUnderContention(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[int]{Capacity: 2})
	for range testkit.Long(500) {
		r, err := p.Reserve()
		require.NoError(t, err)
		var wg sync.WaitGroup
		ok := make([]bool, 4)
		for i := range ok {
			wg.Add(1)
			go func() {
				defer wg.Done()
				ok[i] = testkit.Recovered(func() {
					if i%2 == 0 {
						r.Commit()
					} else {
						r.Cancel()
					}
				}) == nil
			}()
		}
		wg.Wait()
		n := 0
		for _, o := range ok {
			if o {
				n++
			}
		}
		require.Equal(t, 1, n)
		p.Clear()
	}
	require.Equal(t, 2, testkit.RequireReclaimed(t, p).Free)
}

// Reservations count against the Capacity, and all come back when dropped.
func TestDroppedReservationLosesNoSlot(t *testing.T) {
	const capacity = 40
	for _, reuse := range testkit.Reuses {
		p := testkit.Tiny(t, &pool.Options[stamp]{Capacity: capacity, Reuse: reuse})
		for range 3 {
			handles := make([]pool.Handle[stamp], capacity)
			testkit.Apart(func() {
				for i := range handles {
					r, err := p.Reserve()
					if assert.NoError(t, err) {
						handles[i] = r.Handle()
						r.Value().self = r.Value()
					}
				}
				_, err := p.Insert(stamp{})
				assert.ErrorIs(t, err, pool.ErrFull)
				assert.NotErrorIs(t, err, pool.ErrStalled)
			})
			testkit.Eventually(t, func() bool { return p.Stats().Reserved == 0 }, "reservations that nobody has")
			hs := testkit.Fill(t, p, capacity, func(int) stamp { return stamp{} })
			for _, h := range handles {
				require.False(t, p.Contains(h))
			}
			require.Equal(t, capacity, p.RemoveBatch(hs))
		}
	}
}

// A Reservation that is still referred to is not taken for a dropped one.
func TestReservationSurvivesGC(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[stamp]{Capacity: 4})
	r, err := p.Reserve()
	require.NoError(t, err)
	for range 5 {
		runtime.GC()
	}
	require.Equal(t, 1, p.Stats().Reserved)
	r.Value().id = 9
	h := r.Commit()
	runtime.GC()
	runtime.GC()
	require.EqualValues(t, 9, p.MustGet(h).id)
	require.Zero(t, p.Stats().Reserved)
}
