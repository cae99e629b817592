//go:build !race

package pool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// mustClone clones p in pages of two slots.
func mustClone[T any](t testing.TB, p *pool.Pool[T], opts *pool.Options[T], copyValue func(dst, src *T)) *pool.Pool[T] {
	t.Helper()
	c, err := pool.CloneTiny(p, opts, copyValue, 1)
	require.NoError(t, err)
	return c
}

// A clone has the values under their handles, whatever the options of the two pools are, and whether pages
// of the original have memory. What was removed stays refused, also when its slot is used again.
func TestCloneHasTheSameValues(t *testing.T) {
	for _, from := range append(lineConfigs(), pool.Options[int]{Shards: 1, Origin: 5}, pool.Options[int]{Capacity: 620, Preallocate: true}) {
		for _, trims := range []bool{false, true} {
			p := tiny8(t, &from)
			hs := testkit.Fill(t, p, 600, testkit.Number)
			gone := append(hs[:300:300], hs[400:420]...)
			require.Equal(t, len(gone), p.RemoveBatch(gone))
			if trims {
				require.NoError(t, p.Synchronize(t.Context()))
				p.Trim()
			}
			for _, o := range append(lineConfigs(), from, pool.Options[int]{Capacity: 600, Preallocate: true}) {
				for _, copyValue := range []func(dst, src *int){nil, func(dst, src *int) { *dst = *src }} {
					c := mustClone(t, p, &o, copyValue)
					requireCopy(t, p, c)
					churn(t, c, nil, 300)
					for _, h := range gone {
						require.False(t, c.Contains(h), "%v was removed", h)
					}
				}
			}
			c, err := p.Clone(nil, nil) // in pages as they are
			require.NoError(t, err)
			requireCopy(t, p, c)
		}
	}
}

// Values of a type that no snapshot can have are copied as they are, or by a function that gets each once.
func TestCloneOfAnyType(t *testing.T) {
	type crew struct {
		names []string
		done  chan struct{}
		boss  any
		_     func()
	}
	p := tiny(t, &pool.Options[crew]{Shards: 1})
	hs := testkit.Fill(t, p, 50, func(i int) crew { return crew{names: []string{"Ann"}, done: make(chan struct{}), boss: i} })
	p.Remove(hs[7])
	shared := mustClone(t, p, nil, nil)
	calls := map[*crew]bool{}
	deep := mustClone(t, p, nil, func(dst, src *crew) {
		require.Zero(t, dst.names, "dst is not zero")
		require.False(t, calls[src], "a second call for a value")
		calls[src] = true
		dst.names, dst.boss = append(dst.names, src.names...), src.boss
	})
	require.Len(t, calls, 49)
	for h, v := range p.All() {
		v.names[0] = "Bob"
		require.Equal(t, "Bob", shared.MustGet(h).names[0])
		require.Equal(t, v.done, shared.MustGet(h).done)
		require.Equal(t, "Ann", deep.MustGet(h).names[0])
		require.Equal(t, v.boss, deep.MustGet(h).boss)
		require.Nil(t, deep.MustGet(h).done)
	}
	require.False(t, deep.Contains(hs[7]))
}

// Without Origin a clone begins a new line: neither pool accepts what the other issues, and no other clone does.
// With it, both issue the same handles.
func TestCloneBeginsANewLine(t *testing.T) {
	for _, o := range lineConfigs() {
		p := pool.Must(&o)
		hs := testkit.Fill(t, p, 1000, testkit.Number)
		require.Equal(t, 600, p.RemoveBatch(hs[:600]))
		kept := contents(p)
		clone := func() *pool.Pool[int] {
			c, err := p.Clone(&o, nil)
			require.NoError(t, err)
			return c
		}
		pools := []*pool.Pool[int]{clone(), clone(), clone(), p}
		for near(t, pools[0], pools[1]) { // by a chance of 1 in 1,000
			pools[1] = clone()
		}
		pools = append(pools[:2], p)
		for h, v := range kept {
			require.Equal(t, v, pools[0].MustGet(h))
		}
		for range 3 {
			issued := make([][]pool.Handle[int], len(pools))
			for k, p := range pools {
				issued[k] = churn(t, p, hs[600:], 1000)
			}
			for k, p := range pools {
				for j := range pools {
					for _, h := range issued[j] {
						require.True(t, j == k || !p.Contains(h), "%v is of another pool", h)
					}
				}
			}
		}
	}
	o := &pool.Options[int]{Origin: 1, Shards: 1}
	p := pool.Must(o)
	churn(t, p, nil, 1000)
	c, err := p.Clone(o, nil)
	require.NoError(t, err)
	require.Equal(t, churn(t, p, nil, 1000), churn(t, c, nil, 1000))
}

// A clone of a restored pool has what its slots have yet to skip.
func TestCloneOfAClone(t *testing.T) {
	first := pool.Must(&pool.Options[int]{Shards: 1, Origin: 1})
	hs := testkit.Fill(t, first, 100, testkit.Number)
	second := mustClone(t, first, &pool.Options[int]{Shards: 1}, nil)
	third := mustClone(t, second, &pool.Options[int]{Shards: 1, Origin: 1}, nil) // skips nothing itself
	fourth := mustClone(t, third, &pool.Options[int]{Shards: 1}, nil)
	generations := func(p *pool.Pool[int]) (sum int) {
		require.Equal(t, 100, p.RemoveBatch(hs))
		require.NoError(t, p.Synchronize(t.Context()))
		for _, h := range testkit.Fill(t, p, 100, testkit.Number) {
			sum += int(h.Generation()) / 2
		}
		return sum
	}
	require.GreaterOrEqual(t, generations(third), 100<<16)
	require.GreaterOrEqual(t, generations(fourth), 200<<16)
}

// Clone returns an error that says which option does not fit, and panics for a zero Pool.
func TestCloneThatDoesNotFit(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1, Origin: 5})
	hs := testkit.Fill(t, p, 20, testkit.Number)
	for text, o := range map[string]pool.Options[int]{
		"Options.Capacity is 19: the value 19@5 lies beyond its 19 slots; Pool[int]": {Capacity: 19},
		"pool: Options.Origin is 7; the original began at 5; Pool[int]":              {Origin: 7},
		"pool: Options.Capacity is -1; want 0 (no limit) or more":                    {Capacity: -1},
	} {
		c, err := p.Clone(&o, nil)
		require.Nil(t, c)
		require.ErrorContains(t, err, text)
		if o.Capacity > 0 {
			require.ErrorIs(t, err, pool.ErrFull)
		}
	}
	require.Equal(t, 10, p.RemoveBatch(hs[10:]))
	c, err := p.Clone(&pool.Options[int]{Capacity: 10}, nil)
	require.NoError(t, err)
	requireCopy(t, p, c)
	requireRefusal(t, c, pool.ErrFull, "ten values")
	testkit.RequirePanicText(t, func() { _, _ = new(pool.Pool[int]).Clone(nil, nil) }, "zero Pool")
}

// A value that was seen live is copied as that life, also if it is removed first: its slot waits. In the clone it
// is live if it was at the second look too. After a panic of the user's function nothing is pinned or held.
func TestCloneKeepsWhatItCopies(t *testing.T) {
	for _, origin := range []uint32{0, 1} {
		p := tiny(t, &pool.Options[string]{Capacity: 2, Shards: 1, Origin: origin})
		first, second := testkit.MustInsert(t, p, "first"), testkit.MustInsert(t, p, "second")
		calls := 0
		c, err := p.Clone(nil, func(dst, src *string) {
			if calls++; *src == "first" {
				require.True(t, p.Remove(first), "the value should be live")
				_, err := p.Insert("another")
				require.ErrorIs(t, err, pool.ErrStalled, "the slot is reused while it is copied")
			}
			*dst = *src
		})
		require.NoError(t, err)
		require.Equal(t, 2, calls)
		require.Equal(t, map[pool.Handle[string]]string{second: "second"}, contents(c))
		testkit.RequireConserved(t, c)

		testkit.MustInsert(t, p, "another")
		require.Equal(t, "a bad mood", testkit.Recovered(func() {
			_, _ = p.Clone(nil, func(_, _ *string) { panic("a bad mood") })
		}))
		p.Clear()
		testkit.RequireReclaimed(t, p)
	}
}

// A handle in a value never names another value in the clone: one that was issued between the two looks does
// not become live there.
func TestCloneLooksTwice(t *testing.T) {
	type node struct {
		_  string
		to pool.Handle[node]
	}
	for _, origin := range []uint32{0, 1} {
		o := &pool.Options[node]{Shards: 1, Origin: origin}
		// With a Capacity a slot is reused under the tag coatcheck_debug too.
		p := pool.Must(&pool.Options[node]{Shards: 1, Origin: origin, Capacity: 10_000})
		hs := testkit.Fill(t, p, 5000, func(i int) node { return node{} }) // several blocks
		gone, last := hs[0], hs[len(hs)-1]
		p.Remove(gone)
		require.NoError(t, p.Synchronize(t.Context()))
		reused := func() (h pool.Handle[node]) {
			for h.IsZero() || h.Index() != gone.Index() {
				h = testkit.MustInsert(t, p, node{})
				require.Less(t, h.Index(), uint32(20_000), "the slot should be reused")
			}
			return h
		}
		var late pool.Handle[node]
		calls := 0
		c, err := p.Clone(o, func(dst, src *node) { // the slot of gone was looked at long ago
			switch calls++; calls {
			case 2000:
				p.Remove(reused())
			case 3000, 3500, 4000: // with another pin each, unless the pool replays
				_ = p.Synchronize(testkit.Done())
			case 4999:
				late = reused()
				src.to = late
			}
			*dst = *src
		})
		require.NoError(t, err)
		require.Equal(t, late, c.MustGet(last).to)
		require.False(t, c.Contains(late))
		for range 6000 {
			require.NotEqual(t, late, testkit.MustInsert(t, c, node{}), "the clone issues a handle that a value has")
		}
		testkit.RequireConserved(t, c)
	}
}

// Clone may be called wherever the pool may be used: under a guard, a Ref or a loop, in an event, a constructor or a
// Reset, beside a Worker, and by the function that copies. What is not live at that moment is not in the clone.
func TestCloneInsideOfOtherCalls(t *testing.T) {
	for _, o := range []pool.Options[int]{{}, {Shards: 2, Capacity: 100}, {Origin: 1, Shards: 1}, {Origin: 1, Shards: 1, Capacity: 10, Reuse: pool.FIFO}} {
		for _, copyValue := range []func(dst, src *int){nil, func(dst, src *int) { *dst = *src }} {
			var p *pool.Pool[int]
			var want map[pool.Handle[int]]int // nil: nothing is required now
			clones := 0
			clone := func() {
				if want != nil {
					c := mustClone(t, p, &pool.Options[int]{Shards: o.Shards, Origin: o.Origin}, copyValue)
					require.Equal(t, want, contents(c))
					testkit.RequireConserved(t, c)
					clones++
				}
			}
			told := func(h pool.Handle[int], _ *int) {
				require.False(t, p.Contains(h))
				clone()
			}
			with := o
			with.OnInsert, with.OnRemove, with.Reset = told, told, func(v *int) { clone(); *v = 0 }
			p = tiny(t, &with)
			hs := testkit.Fill(t, p, 8, testkit.Number)
			want = contents(p)
			for range p.All() {
				clone()
			}
			g := p.Pin()
			clone()
			g.Unpin()
			ref := mustHold(t, p, hs[0])
			clone()
			ref.Release()
			w := p.Worker()
			_, err := w.InsertFunc(func(pool.Handle[int], *int) { clone() })
			require.NoError(t, err)
			want = contents(p)
			clone()
			delete(want, hs[1])
			require.True(t, w.Remove(hs[1]))
			clone()
			w.Close()
			require.NoError(t, p.Synchronize(t.Context()))
			require.GreaterOrEqual(t, clones, 15)

			_, err = p.Clone(nil, func(dst, src *int) { clone() })
			require.NoError(t, err)
			want = nil
			p.Clear()
			testkit.RequireReclaimed(t, p)
		}
	}
}

// The function that copies may use the pool, and the clone is what the two looks at a slot say.
func TestCloneWhoseFunctionUsesThePool(t *testing.T) {
	for _, o := range []pool.Options[int]{{Shards: 1}, {Origin: 1, Shards: 1}} {
		p := tiny(t, &o)
		hs := testkit.Fill(t, p, 300, testkit.Number)
		calls := 0
		c := mustClone(t, p, &o, func(dst, src *int) {
			*dst = *src
			if calls++; calls < 1000 {
				p.Remove(hs[calls*7%len(hs)])
				testkit.MustInsert(t, p, -1)
			}
		})
		for h, v := range c.All() {
			require.Equal(t, p.MustGet(h), *v, "%v is not live", h)
		}
		for h, v := range p.All() {
			if *v >= 0 {
				require.Equal(t, *v, c.MustGet(h), "%v lived during the whole call", h)
			}
		}
		testkit.RequireConserved(t, c)
		churn(t, c, nil, 1000)
	}
}

// A clone is told of what is done to it, and of nothing before.
func TestCloneCallsNoEvents(t *testing.T) {
	told := 0
	tell := func(pool.Handle[int], *int) { told++ }
	p := pool.Must(&pool.Options[int]{Shards: 1, OnInsert: tell, OnRemove: tell})
	h := testkit.MustInsert(t, p, 1)
	ref := mustHold(t, p, h)
	reserved := mustReserve(t, p)
	told = 0
	c, err := p.Clone(&pool.Options[int]{OnInsert: tell, OnRemove: tell, Reset: func(*int) { told++ }}, nil)
	require.NoError(t, err)
	require.Zero(t, told)
	st := testkit.RequireConserved(t, c)
	require.Equal(t, []int{1, 0, 0}, []int{st.Live, st.Held, st.Reserved})
	require.True(t, c.Remove(h), "the value should be live")
	require.Equal(t, 1, told)
	require.NoError(t, c.Synchronize(t.Context()))
	require.Equal(t, 2, told, "the slot should be free, and Reset")
	ref.Release()
	reserved.Cancel()
}

// A clone of each frame makes no garbage for each value.
func TestClonesAllocateByPages(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	for _, o := range []pool.Options[fixed]{{}, {Origin: 1, Shards: 1}} {
		p := pool.Must(&o)
		testkit.Fill(t, p, 10_000, fixedOf)
		got := testing.AllocsPerRun(3, func() { _, _ = p.Clone(&o, nil) })
		require.LessOrEqual(t, got, 200.0, "Origin %d", o.Origin)
	}
}
