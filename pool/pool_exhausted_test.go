//go:build !race

package pool_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// The ends of slots' generations.

// Reset is called for a value in the last life of its slot also if a Ref kept the value while its
// slot was reclaimed. A later call does it, never Release, and once. A value that was moved out is
// zeroed.
func TestResetOfAHeldLastLife(t *testing.T) {
	later := map[string]func(p *pool.Pool[object]){
		"Synchronize": func(p *pool.Pool[object]) {},
		"churn": func(p *pool.Pool[object]) {
			for range 1000 {
				require.True(t, p.Remove(testkit.MustInsert(t, p, object{})), "the value should be live")
			}
		},
	}
	for _, reuse := range testkit.Reuses {
		for _, capacity := range []int{0, 8} {
			for origin, lives := range map[uint32]string{testkit.LastGeneration: "last", testkit.LastGeneration - 2: "last but one"} {
				for _, verb := range []string{"Remove", "RemoveBatch", "Worker.Remove", "Take"} {
					for name, call := range later {
						t.Run(fmt.Sprintf("%s/Capacity=%d/life=%s/%s/%s", testkit.NameOf(reuse), capacity, lives, verb, name), func(t *testing.T) {
							var resets []string
							p := tiny(t, &pool.Options[object]{Capacity: capacity, Shards: 1, Reuse: reuse, Origin: origin, Reset: func(v *object) {
								resets = append(resets, v.note)
								resetObject(v)
							}})
							h := testkit.MustInsert(t, p, object{note: "held"})
							r := mustHold(t, p, h)
							w := p.Worker()
							removers[object]()[verb](p, w, []pool.Handle[object]{h})
							w.Close()
							require.False(t, p.Contains(h), "the value should be gone")
							require.NoError(t, p.Synchronize(testkit.Done()))
							require.NotContains(t, resets, "held")
							require.Equal(t, "held", r.Pointer().note)
							testkit.RequireConserved(t, p)
							before := len(resets)
							r.Release()
							require.Len(t, resets, before, "Release has called Reset")
							call(p)
							st := testkit.RequireReclaimed(t, p)
							require.Equal(t, verb != "Take", slices.Contains(resets, "held"), "Reset is called for the value")
							if name == "Synchronize" && verb != "Take" {
								require.Equal(t, []string{"held"}, resets)
								require.Equal(t, st.Exhausted == 1, origin == testkit.LastGeneration)
							}
							_, values := pool.Image(p)
							for _, v := range values {
								require.NotEqual(t, "held", v.note)
							}
						})
					}
				}
			}
		}
	}
}

// A slot that has used up its generations is replaced by one with a new index. So a pool with a
// Capacity does not end, has never more than Capacity values, and refuses nothing while it has
// fewer and no guard stands.
func TestBoundedPoolDoesNotEnd(t *testing.T) {
	for _, capacity := range []int{1, 3, 64} {
		for _, lives := range []int{1, 2, 5} {
			for _, o := range []pool.Options[int]{
				{}, {Preallocate: true}, {Shards: 1}, {Reset: func(v *int) { *v = 0 }}, {Reset: func(v *int) { *v = 0 }, Preallocate: true}, {MaxLimbo: 1},
			} {
				for _, o.Reuse = range testkit.Reuses {
					for _, worker := range []bool{false, true} {
						o.Capacity, o.Origin = capacity, uint32(testkit.LastGeneration)-2*uint32(lives-1)
						t.Run(fmt.Sprintf("%s/lives=%d/Worker=%t", describe(&o), lives, worker), func(t *testing.T) {
							testEndlessPool(t, &o, lives, worker)
						})
					}
				}
			}
		}
	}
}

// A removed value that a Ref keeps is in use, also if its slot has no life left. So the slot is
// replaced when the Ref has gone, and not before.
func TestHeldLastLifeIsNotReplaced(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		t.Run(testkit.NameOf(reuse), func(t *testing.T) {
			p := pool.Must(&pool.Options[int]{Capacity: 1, Reuse: reuse, Origin: testkit.LastGeneration})
			for n := range 3 {
				h := testkit.MustInsert(t, p, n)
				require.EqualValues(t, n, h.Index())
				r := mustHold(t, p, h)
				require.True(t, p.Remove(h), "the value should be live")
				require.NoError(t, p.Synchronize(testkit.Done()))
				_, err := p.Insert(n)
				require.ErrorIs(t, err, pool.ErrStalled)
				st := p.Stats()
				require.Equal(t, []int{n, 1}, []int{st.Exhausted, st.Limbo})
				r.Release()
				require.NoError(t, p.Synchronize(testkit.Done()))
				require.Equal(t, n+1, p.Stats().Exhausted)
			}
		})
	}
}

// endless drives a bounded pool through its slots' generations.
type endless struct {
	*testing.T
	p      *pool.Pool[int]
	insert func(int) (pool.Handle[int], error)
	remove func(pool.Handle[int]) bool
	live   []pool.Handle[int]
	issued map[pool.Handle[int]]bool
}

// add inserts a value, which must fit.
func (e *endless) add() {
	e.Helper()
	h, err := e.insert(len(e.issued))
	require.NoErrorf(e, err, "insertion %d, %d live, %+v", len(e.issued), len(e.live), e.p.Stats())
	e.took(h)
}

func (e *endless) took(h pool.Handle[int]) {
	require.Falsef(e, e.issued[h], "%v was issued before", h)
	e.issued[h] = true
	e.live = append(e.live, h)
	require.LessOrEqual(e, len(e.live), e.p.Cap())
}

// drop removes the oldest value.
func (e *endless) drop() {
	require.True(e, e.remove(e.live[0]), "the value should be live")
	e.live = e.live[1:]
}

// full requires the refusal of a pool whose values are all live.
func (e *endless) full() {
	e.Helper()
	require.Len(e, e.live, e.p.Cap())
	_, err := e.insert(0)
	require.ErrorIs(e, err, pool.ErrFull)
	require.NotErrorIs(e, err, pool.ErrStalled)
	require.NotErrorIs(e, err, pool.ErrExhausted)
}

func testEndlessPool(t *testing.T, o *pool.Options[int], lives int, worker bool) {
	p, capacity := pool.Must(o), o.Capacity
	e := endless{T: t, p: p, insert: p.Insert, remove: p.Remove, issued: map[pool.Handle[int]]bool{}}
	var w *pool.Worker[int]
	if worker {
		w = p.Worker()
		defer w.Close()
		e.insert, e.remove = w.Insert, w.Remove
	}
	for round := 0; len(e.issued) < 6*capacity*lives; round++ {
		for range capacity {
			e.add()
		}
		e.full()
		switch round % 3 {
		case 0: // one after the other
			for range capacity {
				e.drop()
				e.add()
				e.full()
			}
		case 1: // under a guard, spare slots may take the place of what waits
			g := p.Pin()
			for range capacity {
				e.drop()
				if h, err := e.insert(0); err == nil {
					e.took(h)
				} else {
					require.ErrorIs(t, err, pool.ErrStalled)
				}
				if len(e.live) == capacity {
					e.full()
				}
			}
			g.Unpin()
		}
		for len(e.live) > 0 {
			e.drop()
		}
	}
	if worker {
		w.Flush()
	}
	require.NoError(t, p.Synchronize(testkit.Done()))
	st := testkit.RequireConserved(t, p)
	require.Equal(t, capacity, st.Capacity)
	require.Zero(t, st.RefusedExhausted)
	ended := 0
	for h := range e.issued {
		require.False(t, p.Contains(h) || p.Remove(h), "%v is live again", h)
		if h.Generation() == testkit.LastGeneration {
			ended++
		}
	}
	if worker { // what it gives back unused has lost a life
		require.GreaterOrEqual(t, st.Exhausted, ended)
	} else {
		require.Equal(t, ended, st.Exhausted)
	}
	require.GreaterOrEqual(t, st.Exhausted, 3*capacity)
	for range capacity { // as many values fit as at first
		e.add()
	}
	e.full()
}

// A pool is restored with a smaller Capacity from a snapshot with exhausted slots, some of which lie
// beyond it: it takes Capacity values, and then no more.
func TestRestoreBesideExhaustedSlots(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Capacity: 100, Shards: 1, Origin: testkit.LastGeneration - 4})
	hs := testkit.Fill(t, p, 100, testkit.Number)
	for range 40 {
		require.True(t, p.Remove(hs[99]), "the value should be live")
		require.NoError(t, p.Synchronize(context.Background()))
		hs[99] = testkit.MustInsert(t, p, 1)
	}
	p.Clear()
	require.NoError(t, p.Synchronize(context.Background()))
	require.Positive(t, p.Stats().Exhausted)
	var snapshot bytes.Buffer
	_, err := p.WriteTo(&snapshot)
	require.NoError(t, err)
	for _, capacity := range []int{1, 50, 99, 100, 200} {
		q, err := pool.ReadFrom(bytes.NewReader(snapshot.Bytes()), &pool.Options[int]{Capacity: capacity, Shards: 1})
		require.NoError(t, err)
		testkit.Fill(t, q, capacity, testkit.Number)
		_, err = q.Insert(1)
		require.ErrorIs(t, err, pool.ErrFull)
		for _, h := range hs {
			require.False(t, q.Contains(h), "the value should be gone")
		}
	}
}

// A pool is restored with a Capacity just below a slot that is exhausted: others take that slot's place in
// the copy too, so values go in however many slots are exhausted there.
func TestRestoreBelowAnExhaustedSlot(t *testing.T) {
	const n, lives = 4, 3
	o := &pool.Options[int]{Capacity: n + 1, Shards: 1, Origin: testkit.LastGeneration - 2*(lives-1)}
	p := pool.Must(o)
	hs := testkit.Fill(t, p, n+1, testkit.Number)
	for last := hs[n]; ; last = testkit.MustInsert(t, p, 1) {
		require.Equal(t, uint32(n), last.Index())
		require.True(t, p.Remove(last), "the value should be live")
		require.NoError(t, p.Synchronize(t.Context()))
		if last.Generation() == testkit.LastGeneration {
			break
		}
	}
	o.Capacity = n
	q := copyOf(t, p, o)
	hs = hs[:n]
	for range 2 * lives * n {
		require.Equal(t, n, q.RemoveBatch(hs))
		require.NoError(t, q.Synchronize(t.Context()))
		hs = testkit.Fill(t, q, n, testkit.Number)
	}
}

// In a copy of a pool, the slots that were exhausted in the original are counted, so those that are
// exhausted in the copy come into no list, however many they are. A pool with two shards keeps no
// order of its lists, from which a copy would know better.
func TestCopyCountsExhaustedSlots(t *testing.T) {
	const n = 20
	for _, reuse := range testkit.Reuses {
		o := &pool.Options[int]{Shards: 2, Origin: testkit.LastGeneration, Reuse: reuse}
		p := tiny(t, o)
		hs := testkit.Fill(t, p, 2*n, testkit.Number)
		require.Equal(t, n, p.RemoveBatch(hs[:n]))
		require.NoError(t, p.Synchronize(t.Context()))
		c := copyOf(t, p, o)
		require.Equal(t, n, c.Stats().Exhausted)
		require.Equal(t, n, c.RemoveBatch(hs[n:]))
		require.NoError(t, c.Synchronize(t.Context()))
		require.Equal(t, 2*n, c.Stats().Exhausted)
		for _, h := range testkit.Fill(t, c, 3*n, testkit.Number) {
			require.LessOrEqual(t, h.Generation(), uint32(testkit.LastGeneration), "%v is issued", h)
		}
	}
}
