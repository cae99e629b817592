package pool_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/length"
	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// What the tests of other packages have as well, under the names used here.
var (
	newRand          = testkit.Rand
	eventually       = testkit.Eventually
	apart            = testkit.Apart
	within           = testkit.Within
	requirePanicText = testkit.RequirePanicText
	recovered        = testkit.Recovered
)

// lastGeneration is the last generation that a slot may live with.
const lastGeneration = 1<<32 - 3

// long returns how often a test does what it does n times in the full programme.
func long(n int) int { return length.Of(n) }

// tiny returns a pool with pages of two slots.
func tiny[T any](t testing.TB, opts *pool.Options[T]) *pool.Pool[T] {
	t.Helper()
	p, err := pool.NewTiny(opts, 1)
	require.NoError(t, err)
	return p
}

// mustInsert inserts v, which the test knows to fit.
func mustInsert[T any](t testing.TB, p *pool.Pool[T], v T) pool.Handle[T] {
	t.Helper()
	h, err := p.Insert(v)
	if err != nil { // in loops this is much cheaper than require
		t.Fatal(err)
	}
	return h
}

// fill inserts n values and returns their handles.
func fill[T any](t testing.TB, p *pool.Pool[T], n int, v func(i int) T) []pool.Handle[T] {
	t.Helper()
	hs := make([]pool.Handle[T], n)
	for i := range hs {
		var err error
		if hs[i], err = p.Insert(v(i)); err != nil {
			t.Fatalf("insertion %d of %d: %v", i+1, n, err)
		}
	}
	return hs
}

// number is a value for fill.
func number(i int) int { return i + 1 }

// requireConserved requires that every slot is accounted for.
func requireConserved[T any](t testing.TB, p *pool.Pool[T]) pool.Stats {
	t.Helper()
	st := p.Stats()
	sum := st.Live + st.Free + st.Limbo + st.Cached + st.Reserved + st.Exhausted
	require.Equalf(t, st.Allocated, sum, "sum of %+v", st)
	return st
}

// requireReclaimed waits until nothing waits, and requires that every slot is
// free, live or exhausted. The test must hold no guard, Worker or Reservation.
func requireReclaimed[T any](t testing.TB, p *pool.Pool[T]) pool.Stats {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(t, p.Synchronize(ctx))
	st := requireConserved(t, p)
	require.Zerof(t, st.Limbo, "%+v", st)
	require.Zerof(t, st.Cached, "%+v", st)
	require.Zerof(t, st.Reserved, "%+v", st)
	require.Zerof(t, st.Pinned, "%+v", st)
	return st
}

// reuses are the orders of reuse, for tests that run in both.
var reuses = []pool.Reuse{pool.LIFO, pool.FIFO}
