package pool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/shard/slots"
)

// What these tests have in common, beside package testkit.

// tiny returns a pool with units of one slot, and pages of one and then two.
func tiny[T any](t testing.TB, opts *pool.Options[T]) *pool.Pool[T] {
	t.Helper()
	p, err := pool.NewTiny(opts, 1)
	require.NoError(t, err)
	return p
}

// paired returns a pool with pages of two slots.
func paired[T any](t testing.TB, opts *pool.Options[T]) *pool.Pool[T] {
	t.Helper()
	p, err := pool.NewSized(opts, slots.PageSizes{Unit: 1, Page: 1, Most: 2})
	require.NoError(t, err)
	return p
}

// mustHold holds h, which the test knows to be live.
func mustHold[T any](t testing.TB, p *pool.Pool[T], h pool.Handle[T]) *pool.Ref[T] {
	t.Helper()
	r, ok := p.Hold(h)
	require.Truef(t, ok, "Hold(%v)", h)
	require.Equal(t, h, r.Handle())
	return r
}

// mustReserve reserves a slot, which the test knows to be there.
func mustReserve[T any](t testing.TB, p *pool.Pool[T]) *pool.Reservation[T] {
	t.Helper()
	r, err := p.Reserve()
	require.NoError(t, err)
	return r
}

// copyGuard copies in a way that vet does not see.
func copyGuard[T any](to, from *T) { *to = *from }

// inserter makes v live, through the pool or the Worker.
type inserter[T any] func(p *pool.Pool[T], w *pool.Worker[T], v T) (pool.Handle[T], error)

// inserters are the verbs that need a slot. Commit is Reserve, for a value that is committed.
func inserters[T any]() map[string]inserter[T] {
	built := func(verb func(func(pool.Handle[T], *T)) (pool.Handle[T], error), v T) (pool.Handle[T], error) {
		return verb(func(_ pool.Handle[T], to *T) { *to = v })
	}
	return map[string]inserter[T]{
		"Insert": func(p *pool.Pool[T], _ *pool.Worker[T], v T) (pool.Handle[T], error) { return p.Insert(v) },
		"InsertWait": func(p *pool.Pool[T], _ *pool.Worker[T], v T) (pool.Handle[T], error) {
			return p.InsertWait(testkit.Done(), v)
		},
		"InsertFuncWait": func(p *pool.Pool[T], _ *pool.Worker[T], v T) (pool.Handle[T], error) {
			return p.InsertFuncWait(testkit.Done(), func(_ pool.Handle[T], to *T) { *to = v })
		},
		"Worker.InsertWait": func(_ *pool.Pool[T], w *pool.Worker[T], v T) (pool.Handle[T], error) {
			return w.InsertWait(testkit.Done(), v)
		},
		"InsertFunc":        func(p *pool.Pool[T], _ *pool.Worker[T], v T) (pool.Handle[T], error) { return built(p.InsertFunc, v) },
		"Worker.Insert":     func(_ *pool.Pool[T], w *pool.Worker[T], v T) (pool.Handle[T], error) { return w.Insert(v) },
		"Worker.InsertFunc": func(_ *pool.Pool[T], w *pool.Worker[T], v T) (pool.Handle[T], error) { return built(w.InsertFunc, v) },
		"Commit": func(p *pool.Pool[T], _ *pool.Worker[T], v T) (pool.Handle[T], error) {
			r, err := p.Reserve()
			if err != nil {
				return 0, err
			}
			*r.Pointer() = v
			return r.Commit(), nil
		},
	}
}

// requireRefusal requires that every inserting verb returns want and no other of the errors.
func requireRefusal(t *testing.T, p *pool.Pool[int], want error, context string) {
	t.Helper()
	w := p.Worker()
	defer w.Close()
	for verb, insert := range inserters[int]() {
		_, err := insert(p, w, 1)
		require.ErrorIsf(t, err, want, "%s, %s", verb, context)
		require.ErrorIs(t, err, pool.ErrFull)
		require.Regexp(t, "^pool: ", err)
		for _, other := range []error{pool.ErrStalled, pool.ErrExhausted} {
			if other != want {
				require.NotErrorIsf(t, err, other, "%s, %s", verb, context)
			}
		}
	}
}

// capacityConfigs are options of pools that are full after a few values.
func capacityConfigs() (all []pool.Options[int]) {
	for _, reuse := range testkit.Reuses {
		for _, capacity := range []int{1, 2, 7, 64, 300} {
			for _, shards := range []int{1, 2, 8} {
				all = append(all, pool.Options[int]{Capacity: capacity, Shards: shards, Reuse: reuse})
			}
		}
	}
	// A small Capacity works with every default, and with more shards than it can feed.
	for _, capacity := range []int{1, 2, 3, 5} {
		for _, o := range []pool.Options[int]{
			{}, {Reuse: pool.FIFO}, {Preallocate: true}, {Preallocate: true, Reuse: pool.FIFO}, {Shards: 65_536},
			{Shards: 65_536, Reuse: pool.FIFO}, {Reset: func(*int) {}}, {MaxLimbo: 1}, {Origin: testkit.LastGeneration - 2001},
		} {
			o.Capacity = capacity
			all = append(all, o)
		}
	}
	return all
}

// remover removes values of hs, through the pool or the Worker.
type remover[T any] func(p *pool.Pool[T], w *pool.Worker[T], hs []pool.Handle[T])

// removers are the verbs that remove. Clear, Drain and DeleteFunc remove all values.
func removers[T any]() map[string]remover[T] {
	each := func(verb func(p *pool.Pool[T], w *pool.Worker[T], h pool.Handle[T])) remover[T] {
		return func(p *pool.Pool[T], w *pool.Worker[T], hs []pool.Handle[T]) {
			testkit.Each(hs, func(h pool.Handle[T]) { verb(p, w, h) })
		}
	}
	return map[string]remover[T]{
		"Remove":        each(func(p *pool.Pool[T], _ *pool.Worker[T], h pool.Handle[T]) { p.Remove(h) }),
		"Take":          each(func(p *pool.Pool[T], _ *pool.Worker[T], h pool.Handle[T]) { p.Take(h) }),
		"Ptr.Remove":    each(func(p *pool.Pool[T], _ *pool.Worker[T], h pool.Handle[T]) { p.Ptr(h).Remove() }),
		"Worker.Remove": each(func(_ *pool.Pool[T], w *pool.Worker[T], h pool.Handle[T]) { w.Remove(h) }),
		"Worker.Take":   each(func(_ *pool.Pool[T], w *pool.Worker[T], h pool.Handle[T]) { w.Take(h) }),
		"RemoveBatch":   func(p *pool.Pool[T], _ *pool.Worker[T], hs []pool.Handle[T]) { p.RemoveBatch(hs) },
		"Clear":         func(p *pool.Pool[T], _ *pool.Worker[T], _ []pool.Handle[T]) { p.Clear() },
		"Drain": func(p *pool.Pool[T], _ *pool.Worker[T], _ []pool.Handle[T]) {
			for range p.Drain() {
			}
		},
		"DeleteFunc": func(p *pool.Pool[T], _ *pool.Worker[T], _ []pool.Handle[T]) {
			p.DeleteFunc(func(pool.Handle[T], *T) bool { return true })
		},
	}
}

// contents are the values of p by handle.
func contents[T any](p *pool.Pool[T]) map[pool.Handle[T]]T {
	m := map[pool.Handle[T]]T{}
	for h, v := range p.All() {
		m[h] = *v
	}
	return m
}
