package pool_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// Slots that Refs keep count as waiting: a pool whose Refs are never released does not grow
// without end.
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
