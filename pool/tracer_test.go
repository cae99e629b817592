package pool_test

import (
	"bytes"
	"math"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

func forgetsUnpin(p *pool.Pool[int]) pool.Guard[int] { return p.Pin() }

func forgetsRelease(p *pool.Pool[int], h pool.Handle[int]) *pool.Ref[int] {
	r, _ := p.Hold(h)
	return r
}

// profileOf returns the text of the profile.
func profileOf(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	require.NotNil(t, pprof.Lookup(pool.ProfileName))
	require.NoError(t, pprof.Lookup(pool.ProfileName).WriteTo(&b, 1))
	return b.String()
}

// A pool with TraceGuards says who pinned and who holds what is open, and forgets who has let go.
func TestTraceGuardsNamesWhoForgot(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Capacity: 8, Shards: 1, TraceGuards: 1})
	hs := testkit.Fill(t, p, 8, testkit.Number)
	require.Empty(t, p.ExplainOpen())

	r := forgetsRelease(p, hs[0])
	g := forgetsUnpin(p)
	for range 1000 { // which end
		p.View(hs[1], func(*int) {})
		q := p.Pin()
		q.Unpin()
		k := mustHold(t, p, hs[1])
		require.Equal(t, 2, *k.Pointer())
		k.Release()
		testkit.RequirePanicText(t, k.Release, "Ref")
	}
	text := p.ExplainOpen()
	require.Contains(t, text, " by\n\t\tcoatcheck/pool.(*Pool[...]).Pin\n", "its first line is the method that was called")
	require.NotContains(t, text, "coatcheck/epoch")
	require.Equal(t, 1, strings.Count(text, "pool_test.forgetsUnpin\n"), text)
	require.Equal(t, 1, strings.Count(text, "pool_test.forgetsRelease\n"), text)
	require.Equal(t, 1, strings.Count(text, "pinned at "), text)
	require.Equal(t, 1, strings.Count(text, " held at "), text)
	require.Contains(t, profileOf(t), "pool_test.forgetsUnpin")
	require.Contains(t, profileOf(t), "pool_test.forgetsRelease")

	p.RemoveBatch(hs)
	_, err := p.Insert(1)
	require.ErrorIs(t, err, pool.ErrStalled)
	require.NotContains(t, err.Error(), "\n", "ExplainOpen has the stacks")
	require.Contains(t, p.ExplainOpen(), "pool_test.forgetsUnpin\n")
	require.Contains(t, p.ExplainOpen(), "pool_test.forgetsRelease\n")

	g.Unpin()
	r.Release()
	require.Empty(t, p.ExplainOpen())
	require.NotContains(t, profileOf(t), "forgets")
	testkit.RequireReclaimed(t, p)
}

// TestStaleHandlesPinNothing: a program may look many of them up while others are pinned.
func TestStaleHandlesPinNothing(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1, TraceGuards: 1})
	h := testkit.MustInsert(t, p, 1)
	require.True(t, p.View(h, func(*int) {}))
	require.Equal(t, 1, pool.Traced(p), "View of a live one should pin")
	require.True(t, p.Remove(h), "the value should be live")
	for _, stale := range []pool.Handle[int]{0, h, h + 2<<32, h + 1, h + 1000} {
		require.False(t, p.View(stale, func(*int) { t.Error("View of a stale handle should call nothing") }))
		require.False(t, p.Ptr(stale).View(func(*int) { t.Error("View of a stale handle should call nothing") }))
	}
	require.Equal(t, 1, pool.Traced(p))
	require.Empty(t, p.ExplainOpen(), "which also brings the profile up to date")
}

// TestTracedCallsTakeTurns: what changes the tracer's records waits for its lock.
func TestTracedCallsTakeTurns(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1, TraceGuards: 1})
	h := testkit.MustInsert(t, p, 1)
	var r *pool.Ref[int]
	for _, call := range []func(){
		func() { r, _ = p.Hold(h) },
		func() { r.Release() },
		func() { g := p.Pin(); g.Unpin() },
		func() { p.ExplainOpen() },
	} {
		unlock, done := pool.LockTracer(p), make(chan struct{})
		go func() { call(); close(done) }()
		for range 1000 { // a call that takes no turn would end
			runtime.Gosched()
		}
		require.False(t, testkit.IsClosed(done))
		unlock()
		testkit.Soon(t, done)
	}
}

// The leaf of each stack in the profile is the line that called the pool, however deep the pool is.
func TestProfileBeginsAtTheCaller(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1, TraceGuards: 1})
	h := testkit.MustInsert(t, p, 1)
	leaf := func(open func()) string {
		open()
		lines := regexp.MustCompile(`(?m)^#\t.*?\t(\S+?)\+0x`).FindStringSubmatch(profileOf(t)[1:])
		require.NotNil(t, lines, profileOf(t))
		return lines[1]
	}
	var g pool.Guard[int]
	require.Equal(t, "coatcheck/pool_test.forgetsUnpin", leaf(func() { g = forgetsUnpin(p) }))
	g.Unpin()
	_ = p.ExplainOpen()
	var r *pool.Ref[int]
	require.Equal(t, "coatcheck/pool_test.forgetsRelease", leaf(func() { r = forgetsRelease(p, h) }))
	r.Release()
	loops(p, func() {
		require.Equal(t, "coatcheck/pool_test.loops", leaf(func() {}))
	})
	_ = p.ExplainOpen()
}

//go:noinline
func loops(p *pool.Pool[int], inside func()) {
	for range p.All() {
		inside()
	}
}

// One in so many is recorded, and the collector brings the profile up to date.
func TestTraceGuardsDraws(t *testing.T) {
	const every, pins = 10, 2000
	p := tiny(t, &pool.Options[int]{TraceGuards: every})
	guards := make([]pool.Guard[int], pins)
	for i := range guards {
		guards[i] = p.Pin()
	}
	n := pool.Traced(p)
	require.Greater(t, n, pins/every/2) // 200 are expected, with a deviation of 13
	require.Less(t, n, pins/every*2)
	require.Equal(t, pins, p.Stats().Pinned)
	for i := range guards {
		guards[i].Unpin()
	}
	testkit.Eventually(t, func() bool { runtime.GC(); return pool.Traced(p) == 0 }, "forgotten")
	testkit.RequireReclaimed(t, p)

	// What is unpinned at once is not kept.
	for range 100 * pins {
		g := p.Pin()
		g.Unpin()
	}
	require.LessOrEqual(t, pool.Traced(p), 64)
}

func TestTraceGuardsIsChecked(t *testing.T) {
	_, err := pool.New(&pool.Options[int]{TraceGuards: -1})
	require.EqualError(t, err, "pool: Options.TraceGuards is -1; want 0 (none), or to record one in so many")
	if most := uint64(math.MaxUint32); most <= math.MaxInt {
		pool.Must(&pool.Options[int]{TraceGuards: int(most)})
		_, err = pool.New(&pool.Options[int]{TraceGuards: int(most + 1)})
		require.ErrorContains(t, err, "TraceGuards is 4294967296; want")
	}
}

// BenchmarkTraceGuards measures what a pin costs in a pool that records none, one in 1,000, or each.
func BenchmarkTraceGuards(b *testing.B) {
	for name, every := range map[string]int{"none": 0, "1000": 1000, "each": 1} {
		b.Run(name, func(b *testing.B) {
			p := pool.Must(&pool.Options[int]{TraceGuards: every})
			for b.Loop() {
				g := p.Pin()
				g.Unpin()
			}
		})
	}
}

// No guard is named that was unpinned, however often the words of its cell come again within an epoch.
func TestTraceGuardsNamesNoneThatWasUnpinned(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Capacity: 8, Shards: 1, TraceGuards: 500})
	for range testkit.LongAlone(16_000_000) {
		g := p.Pin()
		g.Unpin()
	}
	require.Empty(t, p.ExplainOpen())
	g := p.Pin() // so that ExplainOpen tells of guards
	defer g.Unpin()
	require.LessOrEqual(t, strings.Count(p.ExplainOpen(), "NamesNoneThatWasUnpinned"), 1)
	require.LessOrEqual(t, strings.Count(p.ExplainOpen(), "more from there"), 0)
	require.LessOrEqual(t, strings.Count(profileOf(t), "NamesNoneThatWasUnpinned"), 1)
}

// TestTracerForgetsTheGuardsOfACell: where the words of a cell come again, the records of its guards go, and those of
// others stay. Otherwise a guard would be named that was unpinned, after 16,384 pins.
func TestTracerForgetsTheGuardsOfACell(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1, TraceGuards: 1})
	first, second := forgetsUnpin(p), p.Pin()
	defer second.Unpin()
	first.Unpin()
	require.Equal(t, 2, pool.Traced(p))
	require.Contains(t, profileOf(t), "forgetsUnpin")
	pool.Wrapped(p)
	require.Equal(t, 1, pool.Traced(p))
	require.NotContains(t, profileOf(t), "forgetsUnpin")
}

// TestTracerKeepsAll: goroutines that pin and hold at once lose no record, while others ask which guards are unpinned.
func TestTracerKeepsAll(t *testing.T) {
	const goroutines, each = 8, 200
	p := pool.Must(&pool.Options[int]{TraceGuards: 1})
	h := testkit.MustInsert(t, p, 1)
	guards := make([]pool.Guard[int], goroutines*each)
	refs := make([]*pool.Ref[int], goroutines*each)
	open := func(k int) {
		guards[k] = p.Pin()
		refs[k], _ = p.Hold(h)
	}
	for k := range goroutines / 2 * each { // many, so that a look takes long
		open(2*k + 1)
	}
	testkit.Together(goroutines, func(i int) {
		if i%2 > 0 {
			for range each / 2 {
				pool.Refresh(p)
			}
			return
		}
		for k := i / 2 * each; k < (i/2+1)*each; k++ {
			open(2 * k)
		}
	})
	require.Equal(t, []int{len(guards), len(refs)}, []int{pool.Traced(p), pool.TracedRefs(p)})
	testkit.Together(goroutines, func(i int) {
		for k := i * each; k < (i+1)*each; k++ {
			guards[k].Unpin()
			refs[k].Release()
		}
	})
	require.Empty(t, p.ExplainOpen())
	require.Zero(t, pool.TracedRefs(p), "records of Refs that were released")
	require.NotContains(t, profileOf(t), "TestTracerKeepsAll")
}

// What was open in a pool leaves the profile when the pool is gone.
func TestTraceGuardsForgetsWithThePool(t *testing.T) {
	testkit.Apart(func() {
		for range 10 {
			p := tiny(t, &pool.Options[int]{TraceGuards: 1})
			forgetsInAPool(p)
		}
	})
	require.Contains(t, profileOf(t), "forgetsInAPool")
	testkit.Eventually(t, func() bool { runtime.GC(); return !strings.Contains(profileOf(t), "forgetsInAPool") }, "records of pools that are gone")
}

func forgetsInAPool(p *pool.Pool[int]) {
	for range 50 {
		p.Pin()
	}
	h, _ := p.Insert(1)
	p.Hold(h)
}

func callsEach(t *testing.T, p *pool.Pool[int], f func()) {
	require.NoError(t, p.Each(t.Context(), 2, func(pool.Handle[int], *int) error { f(); return nil }))
}

// The goroutines of Each pin for its caller, who is recorded, once.
func TestTraceGuardsNamesWhoCalledEach(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1, TraceGuards: 1})
	testkit.Fill(t, p, 500, testkit.Number)
	var once sync.Once
	var text, profile string
	callsEach(t, p, func() { once.Do(func() { text, profile = p.ExplainOpen(), profileOf(t) }) })
	for _, said := range []string{text, profile} {
		require.Contains(t, said, "pool_test.callsEach")
		require.NotContains(t, said, "errgroup")
	}
	require.Equal(t, 1, strings.Count(text, "pinned at "), text)
	require.Empty(t, p.ExplainOpen())
	require.NotContains(t, profileOf(t), "pool_test.callsEach")
}
