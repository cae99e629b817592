package testkit

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// What tests of pools have in common.

// LastGeneration is the last generation that a slot may live with.
const LastGeneration = 1<<32 - 3

// Reuses are the orders of reuse, for tests that run in both.
var Reuses = []pool.Reuse{pool.LIFO, pool.FIFO}

// NameOf returns the name of an order of reuse.
func NameOf(r pool.Reuse) string { return [...]string{"LIFO", "FIFO"}[r] }

// MustInsert inserts v, which the test knows to fit.
func MustInsert[T any](t testing.TB, p *pool.Pool[T], v T) pool.Handle[T] {
	t.Helper()
	h, err := p.Insert(v)
	if err != nil { // in loops this is much cheaper than require
		t.Fatal(err)
	}
	return h
}

// Fill inserts n values and returns their handles.
func Fill[T any](t testing.TB, p *pool.Pool[T], n int, v func(i int) T) []pool.Handle[T] {
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

// FirstLine returns a text's first line. Under coatcheck_debug more follow.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// Number is a value for Fill.
func Number(i int) int { return i + 1 }

// Each calls f for each of vs.
func Each[T any](vs []T, f func(T)) {
	for _, v := range vs {
		f(v)
	}
}

// RequireConserved requires that every slot is accounted for.
func RequireConserved[T any](t testing.TB, p *pool.Pool[T]) pool.Stats {
	t.Helper()
	st := p.Stats()
	sum := st.Live + st.Free + st.Limbo + st.Cached + st.Reserved + st.Exhausted
	require.Equalf(t, st.Allocated, sum, "sum of %+v", st)
	return st
}

// RequireReclaimed waits until nothing waits, and requires that every slot is free, live or
// exhausted. The test must hold no guard, Worker or Reservation.
func RequireReclaimed[T any](t testing.TB, p *pool.Pool[T]) pool.Stats {
	t.Helper()
	ctx, cancel := Limited(t)
	defer cancel()
	require.NoError(t, p.Synchronize(ctx))
	st := RequireConserved(t, p)
	require.Zerof(t, st.Limbo, "%+v", st)
	require.Zerof(t, st.Cached, "%+v", st)
	require.Zerof(t, st.Reserved, "%+v", st)
	require.Zerof(t, st.Pinned, "%+v", st)
	return st
}

// Written returns what a pool or a structure writes of itself, and requires that it counts the bytes.
func Written(t testing.TB, of io.WriterTo) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := of.WriteTo(&b)
	require.NoError(t, err)
	require.EqualValues(t, b.Len(), n, "the count of bytes")
	return b.Bytes()
}
