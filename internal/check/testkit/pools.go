package testkit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/inside"
	"coatcheck/internal/check/length"
	"coatcheck/pool"
)

// What tests of pools have in common.

// LastGeneration is the last generation that a slot may live with.
const LastGeneration = 1<<32 - 3

// Reuses are the orders of reuse, for tests that run in both.
var Reuses = []pool.Reuse{pool.LIFO, pool.FIFO}

// Long returns how often a test does what it does n times in the full programme.
func Long(n int) int { return length.Of(n) }

// Tiny returns a pool with pages of two slots.
func Tiny[T any](t testing.TB, opts *pool.Options[T]) *pool.Pool[T] {
	t.Helper()
	p, err := inside.NewTiny(opts, 1)
	require.NoError(t, err)
	return p
}

// MustInsert inserts v, which the test knows to fit.
func MustInsert[T any](t testing.TB, p *pool.Pool[T], v T) pool.Handle[T] {
	t.Helper()
	h, err := p.Insert(v)
	if err != nil { // in loops this is much cheaper than require
		t.Fatal(err)
	}
	return h
}

// MustHold holds h, which the test knows to be live.
func MustHold[T any](t testing.TB, p *pool.Pool[T], h pool.Handle[T]) *pool.Ref[T] {
	t.Helper()
	r, ok := p.Hold(h)
	require.Truef(t, ok, "Hold(%v)", h)
	require.Equal(t, h, r.Handle())
	return r
}

// MustReserveFrom reserves a slot, which the test knows to be there.
func MustReserveFrom[T any](t testing.TB, v *pool.Reserver[T]) *pool.Reservation[T] {
	t.Helper()
	r, err := v.Reserve()
	require.NoError(t, err)
	return r
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

// CopyGuard copies in a way that vet does not see.
func CopyGuard[T any](to, from *T) { *to = *from }

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
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(t, p.Synchronize(ctx))
	st := RequireConserved(t, p)
	require.Zerof(t, st.Limbo, "%+v", st)
	require.Zerof(t, st.Cached, "%+v", st)
	require.Zerof(t, st.Reserved, "%+v", st)
	require.Zerof(t, st.Pinned, "%+v", st)
	return st
}

// RequireRefused requires that every verb returns false for h and leaves the pool's values
// alone.
func RequireRefused[T any](t *testing.T, p *pool.Pool[T], h pool.Handle[T]) {
	t.Helper()
	live := p.Len()
	g := p.Pin()
	v, ok := g.Get(h)
	require.Falsef(t, ok, "Guard.Get(%v)", h)
	require.Nil(t, v)
	require.Equal(t, []*T{nil}, g.GetBatch([]pool.Handle[T]{h}, nil), "Guard.GetBatch(%v)", h)
	g.Unpin()
	require.Falsef(t, p.Contains(h), "Contains(%v)", h)
	_, ok = p.Get(h)
	require.Falsef(t, ok, "Get(%v)", h)
	require.Falsef(t, p.View(h, func(*T) { t.Errorf("View(%v) calls", h) }), "View(%v)", h)
	require.Falsef(t, p.Remove(h), "Remove(%v)", h)
	_, ok = p.Take(h)
	require.Falsef(t, ok, "Take(%v)", h)
	require.Zerof(t, p.RemoveBatch([]pool.Handle[T]{h, h}), "RemoveBatch(%v)", h)
	q := p.Ptr(h)
	require.False(t, q.Live())
	_, ok = q.Get()
	require.False(t, ok)
	require.False(t, q.View(func(*T) { t.Error("Ptr.View calls") }))
	require.False(t, q.Remove())
	w := p.Worker()
	_, ok = w.Get(h)
	require.Falsef(t, ok, "Worker.Get(%v)", h)
	require.Falsef(t, w.Remove(h), "Worker.Remove(%v)", h)
	_, ok = w.Take(h)
	require.Falsef(t, ok, "Worker.Take(%v)", h)
	w.Close()
	RequirePanicText(t, func() { p.MustGet(h) }, "pool: MustGet: handle "+h.String()+" is not live")
	require.NotEqual(t, h.String()+" is live", FirstLine(p.Explain(h)))
	require.Equalf(t, live, p.Len(), "after %v", h)
}

// everyInsert are the verbs that need a slot.
func everyInsert(p *pool.Pool[int]) map[string]func() error {
	return map[string]func() error{
		"Insert":     func() error { _, err := p.Insert(1); return err },
		"InsertFunc": func() error { _, err := p.InsertFunc(func(pool.Handle[int], *int) {}); return err },
		"Reserve":    func() error { _, err := p.Reserve(); return err },
		"InsertBatch": func() error {
			hs, err := p.InsertBatch([]int{1}, nil)
			if len(hs) > 0 && err != nil {
				return fmt.Errorf("%d handles with %w", len(hs), errors.New(err.Error()))
			}
			return err
		},
	}
}

// RequireRefusal requires that every inserting verb returns want and no other of the errors.
func RequireRefusal(t *testing.T, p *pool.Pool[int], want error, context string) {
	t.Helper()
	for verb, insert := range everyInsert(p) {
		err := insert()
		require.ErrorIsf(t, err, want, "%s, %s", verb, context)
		for _, other := range []error{pool.ErrStalled, pool.ErrExhausted} {
			if other != want {
				require.NotErrorIsf(t, err, other, "%s, %s", verb, context)
			}
		}
	}
}

// CapacityConfigs are options of pools that are full after a few values.
func CapacityConfigs() (all []pool.Options[int]) {
	for _, reuse := range Reuses {
		for _, capacity := range []int{1, 2, 7, 64, 300} {
			for _, shards := range []int{1, 2, 8} {
				o := pool.Options[int]{Capacity: capacity, Shards: shards, Reuse: reuse}
				all = append(all, o)
				if reuse == pool.FIFO {
					o.MinFree = 1
					all = append(all, o)
				}
			}
		}
	}
	return all
}
