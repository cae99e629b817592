package pool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// What these tests have in common, beside package testkit.

// tiny returns a pool with pages of two slots.
func tiny[T any](t testing.TB, opts *pool.Options[T]) *pool.Pool[T] {
	t.Helper()
	p, err := pool.NewTiny(opts, 1)
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

// requireRefused requires that every verb returns false for h and leaves the pool's values
// alone.
func requireRefused[T any](t *testing.T, p *pool.Pool[T], h pool.Handle[T]) {
	t.Helper()
	live := p.Len()
	g := p.Pin()
	v, ok := g.Get(h)
	require.Falsef(t, ok, "Guard.Get(%v)", h)
	require.Nil(t, v)
	g.Unpin()
	require.Falsef(t, p.Contains(h), "Contains(%v)", h)
	_, ok = p.Hold(h)
	require.Falsef(t, ok, "Hold(%v)", h)
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
	require.Falsef(t, w.Remove(h), "Worker.Remove(%v)", h)
	_, ok = w.Take(h)
	require.Falsef(t, ok, "Worker.Take(%v)", h)
	w.Close()
	testkit.RequirePanicText(t, func() { p.MustGet(h) }, "pool: MustGet: handle "+h.String()+" is not live")
	require.NotEqual(t, h.String()+" is live", testkit.FirstLine(p.Explain(h)))
	require.Equalf(t, live, p.Len(), "after %v", h)
}

// everyInsert are the verbs that need a slot.
func everyInsert(p *pool.Pool[int]) map[string]func() error {
	return map[string]func() error{
		"Insert":     func() error { _, err := p.Insert(1); return err },
		"InsertWait": func() error { _, err := p.InsertWait(testkit.Done(), 1); return err },
		"InsertFunc": func() error { _, err := p.InsertFunc(func(pool.Handle[int], *int) {}); return err },
		"Reserve":    func() error { _, err := p.Reserve(); return err },
	}
}

// requireRefusal requires that every inserting verb returns want and no other of the errors.
func requireRefusal(t *testing.T, p *pool.Pool[int], want error, context string) {
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
