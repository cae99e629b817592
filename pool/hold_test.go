package pool_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// A Ref holds its own slot, whichever verb removes the value and however much comes and
// goes afterwards. It holds nothing else: every other slot circulates, and the epoch
// advances. It catches a reclaimer that does not look at the holders, on each way back: splice,
// run, queue, bag.
func TestRefHoldsItsSlotAlone(t *testing.T) {
	for name, remove := range removers[stamp]() {
		for _, reuse := range testkit.Reuses {
			t.Run(name+" "+testkit.NameOf(reuse), func(t *testing.T) {
				const slots = 512
				p, err := pool.New(&pool.Options[stamp]{Capacity: slots, Reuse: reuse, Shards: 2})
				require.NoError(t, err)
				w := p.Worker()
				var h pool.Handle[stamp]
				for i := range uint64(100) {
					g, err := w.Insert(stamp{id: i, self: &stamp{}})
					require.NoError(t, err)
					if i == 70 {
						h = g
					}
				}
				r := mustHold(t, p, h)
				remove(p, w, []pool.Handle[stamp]{h})
				require.False(t, p.Contains(h))
				_, again := p.Hold(h)
				require.False(t, again, "a removed value was held anew")
				lives := make(map[uint32]int)
				for i := range uint64(testkit.Long(40_000)) {
					g, err := w.Insert(stamp{id: i + 1000, self: &stamp{}})
					if err != nil || g.Index() == h.Index() {
						t.Fatalf("%v, %v while %v is held", err, g, h)
					}
					lives[g.Index()]++
					if !w.Remove(g) {
						t.Fatalf("Remove(%v)", g)
					}
				}
				require.EqualValues(t, 70, r.Value().id)
				require.NotNil(t, r.Value().self)
				w.Close()
				st := p.Stats()
				require.Equal(t, 1, st.Held)
				for i, n := range lives {
					require.Greater(t, n, 1, "slot %d does not circulate", i)
				}
				require.NoError(t, p.Synchronize(context.Background()), "Synchronize waits for a Ref")
				st = testkit.RequireConserved(t, p)
				require.Equal(t, 1, st.Limbo, "%+v", st)
				r.Release()
				st = testkit.RequireReclaimed(t, p)
				require.Zero(t, st.Held)
				p.Clear()
				testkit.Fill(t, p, slots, func(i int) stamp { return stamp{id: uint64(i)} })
			})
		}
	}
}

// Slots that Refs keep count as waiting: a pool whose Refs are never released does not grow
// for ever.
func TestRefsCountForMaxLimbo(t *testing.T) {
	p, err := pool.New(&pool.Options[int]{MaxLimbo: 1000, Shards: 1})
	require.NoError(t, err)
	var refs []*pool.Ref[int]
	for i := 0; ; i++ {
		h, err := p.Insert(i)
		if err != nil {
			require.ErrorIs(t, err, pool.ErrStalled)
			break
		}
		require.Less(t, i, 1_000_000, "MaxLimbo has no effect")
		refs = append(refs, mustHold(t, p, h))
		require.True(t, p.Remove(h))
	}
	st := testkit.RequireConserved(t, p)
	require.GreaterOrEqual(t, st.Limbo, 1000)
	for i, r := range refs {
		require.Equal(t, i, *r.Value())
		r.Release()
	}
	testkit.RequireReclaimed(t, p)
}

// A value that is taken while a Ref holds it stays readable, is zeroed later, and never Reset.
func TestRefOfATakenValue(t *testing.T) {
	resets := 0
	p, err := pool.New(&pool.Options[[]byte]{Capacity: 1, Reset: func(v *[]byte) { resets++; *v = (*v)[:0] }})
	require.NoError(t, err)
	h := testkit.MustInsert(t, p, []byte{1, 2, 3})
	r := mustHold(t, p, h)
	v, ok := p.Take(h)
	require.True(t, ok)
	require.NoError(t, p.Synchronize(context.Background()))
	require.Equal(t, v, *r.Value())
	r.Release()
	_, err = p.InsertFunc(func(_ pool.Handle[[]byte], v *[]byte) { require.Nil(t, *v) })
	require.NoError(t, err)
	require.Zero(t, resets)
}

// A Reset runs after the last Release, not under it, and one that panics then
// leaves the slot zeroed and free.
func TestResetWaitsForRefs(t *testing.T) {
	resets := 0
	p, err := pool.New(&pool.Options[int]{Capacity: 1, Reset: func(v *int) { resets++; panic("reset") }})
	require.NoError(t, err)
	h := testkit.MustInsert(t, p, 1)
	r := mustHold(t, p, h)
	p.Remove(h)
	require.NoError(t, p.Synchronize(context.Background()))
	require.Zero(t, resets)
	r.Release()
	require.Equal(t, "reset", testkit.Recovered(func() { p.Synchronize(context.Background()) }))
	require.Equal(t, 1, resets)
	_, err = p.InsertFunc(func(_ pool.Handle[int], v *int) { require.Zero(t, *v) })
	require.NoError(t, err)
}

// A Ref that is dropped is not released automatically: Stats shows it.
func TestDroppedRefIsCounted(t *testing.T) {
	p := pool.Must[*int](nil)
	v := new(int)
	h := testkit.MustInsert(t, p, v)
	testkit.Apart(func() { mustHold(t, p, h) })
	require.True(t, p.Remove(h))
	for range 3 {
		runtime.GC()
	}
	require.NoError(t, p.Synchronize(context.Background()))
	st := testkit.RequireConserved(t, p)
	require.Equal(t, 1, st.Held)
	require.Equal(t, 1, st.Limbo)
}
