//go:build coatcheck_debug && !interleave

package pool_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// sweepEvery is at which insertions one sweeps.
const sweepEvery = 256

// enterer and leaver are the functions that stacks must name.
func enterer(f func()) { f() }
func leaver(f func())  { f() }

// numbers is a T without pointers, partly has both, and buffered keeps its buffer.
type (
	numbers struct {
		A, B int64
		C    int32
		D    bool
	}
	partly struct {
		n    int
		next *int
		name string
		tail uint16
	}
	buffered struct {
		buf []byte
		n   int
	}
)

// late are writes to fields of values, through pointers that were kept too long.
var (
	lateNumbers = []func(*numbers){
		func(v *numbers) { v.A = 0 }, func(v *numbers) { v.B++ }, func(v *numbers) { v.C = 5 }, func(v *numbers) { v.D = false }, func(v *numbers) { *v = numbers{} },
	}
	latePartly = []func(*partly){
		func(v *partly) { v.n = 0 }, func(v *partly) { v.next = new(int) }, func(v *partly) { v.name = "" }, func(v *partly) { v.tail = 1 }, func(v *partly) { *v = partly{} },
	}
	lateBuffered = []func(*buffered){
		func(v *buffered) { v.n++ }, func(v *buffered) { v.buf = nil }, func(v *buffered) { v.buf = append(v.buf, 1) }, func(v *buffered) { *v = buffered{} },
	}
)

func resetBuffered(v *buffered) { v.buf, v.n = v.buf[:0], v.n+1 }

// requireBothStacks requires that a panic's text names the value and has three stacks: of who inserted and removed it,
// and who finds it. It returns the handle.
func requireBothStacks(t *testing.T, text string) (handle string) {
	t.Helper()
	_, rest, ok := strings.Cut(text, "pool: a value was written to after its slot was reclaimed, ")
	require.True(t, ok, text)
	_, rest, _ = strings.Cut(rest, "it was the value of ")
	handle, _, _ = strings.Cut(rest, ",")
	parts := paragraphs(text)
	require.Len(t, parts, 4, text)
	for k, want := range []string{"inserted at ", "removed at ", "found at "} {
		require.True(t, strings.HasPrefix(parts[k+1], want), text)
		require.Contains(t, parts[k+1], []string{".enterer\n", ".leaver\n", ".TestWritesThroughKeptPointersAreFound"}[k])
	}
	return handle
}

// Writes through 20 pointers that were kept beyond the removal of their values are found at the next sweep at
// the latest, up to 1,000 other insertions after the removal. Each is told with both stacks.
func TestWritesThroughKeptPointersAreFound(t *testing.T) {
	testKeptPointers(t, numbers{}, nil, lateNumbers)
	testKeptPointers(t, partly{}, nil, latePartly)
	testKeptPointers(t, buffered{buf: make([]byte, 10)}, resetBuffered, lateBuffered)
}

func testKeptPointers[T any](t *testing.T, value T, reset func(*T), late []func(*T)) {
	const kept = 20
	for _, others := range []int{10, 100, 200, 500, 1000} {
		for _, byWorker := range []bool{false, true} {
			for _, o := range []pool.Options[T]{{}, {Capacity: 4096, Preallocate: true}, {MaxLimbo: 100, Reuse: pool.FIFO}} {
				o.Reset = reset
				p := pool.Must(&o)
				w := p.Worker()
				insert, remove := p.Insert, p.Remove
				if byWorker {
					insert, remove = w.Insert, w.Remove
				}
				wanted, pointers := map[string]bool{}, make([]*T, kept)
				hs := make([]pool.Handle[T], kept)
				for i := range kept {
					enterer(func() { hs[i], _ = insert(value) })
					pointers[i], _ = p.Pointer(hs[i])
					require.NotNil(t, pointers[i])
					wanted[hs[i].String()] = true
				}
				leaver(func() {
					for _, h := range hs {
						require.True(t, remove(h), "the value should be live")
					}
				})
				for range others {
					h, err := insert(value)
					require.NoError(t, err)
					require.True(t, remove(h), "the value should be live")
				}
				for i, v := range pointers {
					late[i%len(late)](v)
				}
				for n := 0; len(wanted) > 0; n++ {
					require.Less(t, n, sweepEvery+kept, "%T: not found: %v, others %d, by a Worker %t, %+v", value, wanted, others, byWorker, o.Capacity)
					if v := testkit.Recovered(func() {
						h, err := insert(value)
						require.NoError(t, err)
						require.True(t, remove(h), "the value should be live")
					}); v != nil {
						h := requireBothStacks(t, v.(string))
						require.True(t, wanted[h], "%s was found already, or not written to", h)
						delete(wanted, h)
					}
				}
				w.Close()
				testkit.RequireReclaimed(t, p)
			}
		}
	}
}

// A look-up or a removal with a handle that is refused meets the write, and so do Synchronize and Trim. Each write is
// told once.
func TestRefusedHandleMeetsTheWrite(t *testing.T) {
	for name, find := range map[string]func(*pool.Pool[partly], *pool.Worker[partly], pool.Handle[partly]){
		"Get":      func(p *pool.Pool[partly], _ *pool.Worker[partly], h pool.Handle[partly]) { p.Get(h) },
		"MustGet":  func(p *pool.Pool[partly], _ *pool.Worker[partly], h pool.Handle[partly]) { p.MustGet(h) },
		"Contains": func(p *pool.Pool[partly], _ *pool.Worker[partly], h pool.Handle[partly]) { p.Contains(h) },
		"Pointer":  func(p *pool.Pool[partly], _ *pool.Worker[partly], h pool.Handle[partly]) { p.Pointer(h) },
		"View":     func(p *pool.Pool[partly], _ *pool.Worker[partly], h pool.Handle[partly]) { p.View(h, func(*partly) {}) },
		"Hold":     func(p *pool.Pool[partly], _ *pool.Worker[partly], h pool.Handle[partly]) { p.Hold(h) },
		"Remove":   func(p *pool.Pool[partly], _ *pool.Worker[partly], h pool.Handle[partly]) { p.Remove(h) },
		"Take":     func(p *pool.Pool[partly], _ *pool.Worker[partly], h pool.Handle[partly]) { p.Take(h) },
		"RemoveBatch": func(p *pool.Pool[partly], _ *pool.Worker[partly], h pool.Handle[partly]) {
			p.RemoveBatch([]pool.Handle[partly]{h})
		},
		"Ptr.Live":      func(p *pool.Pool[partly], _ *pool.Worker[partly], h pool.Handle[partly]) { p.Ptr(h).Live() },
		"Worker.Remove": func(_ *pool.Pool[partly], w *pool.Worker[partly], h pool.Handle[partly]) { w.Remove(h) },
		"Worker.Take":   func(_ *pool.Pool[partly], w *pool.Worker[partly], h pool.Handle[partly]) { w.Take(h) },
		"Synchronize": func(p *pool.Pool[partly], _ *pool.Worker[partly], _ pool.Handle[partly]) {
			_ = p.Synchronize(t.Context())
		},
		"Trim": func(p *pool.Pool[partly], _ *pool.Worker[partly], _ pool.Handle[partly]) { p.Trim() },
		"Guard.Pointer": func(p *pool.Pool[partly], _ *pool.Worker[partly], h pool.Handle[partly]) {
			g := p.Pin()
			defer g.Unpin()
			g.Pointer(h)
		},
	} {
		for _, origin := range []uint32{0, 1} {
			p := pool.Must(&pool.Options[partly]{Origin: origin, Shards: 1})
			w := p.Worker()
			h := testkit.MustInsert(t, p, partly{})
			v, _ := p.Pointer(h)
			require.True(t, p.Remove(h), "the value should be live")
			require.NoError(t, p.Synchronize(t.Context()))
			v.tail = 7
			testkit.RequirePanicText(t, func() { find(p, w, h) }, "pool: a value was written to", "it was the value of "+h.String()+",",
				"\nremoved at ", "TestRefusedHandleMeetsTheWrite\n", "\nfound at ", "testkit.Apart")
			require.NotPanics(t, func() {
				if name != "MustGet" {
					find(p, w, h)
				}
				w.Close()
				require.NoError(t, p.Synchronize(t.Context()))
			}, name)
		}
	}
}

// With an Origin, slots are reused in the order of a build without the tag: at once.
func TestOriginKeepsTheOrderOfReuse(t *testing.T) {
	for _, shards := range []int{1, 2} {
		p := pool.Must(&pool.Options[int]{Origin: 1, Shards: shards, Capacity: 1000})
		h := testkit.MustInsert(t, p, 1)
		for range 1000 {
			require.True(t, p.Remove(h), "the value should be live")
			require.NoError(t, p.Synchronize(t.Context()))
			next := testkit.MustInsert(t, p, 1)
			require.Equal(t, h.Index(), next.Index())
			h = next
		}
	}
}

// Without an Origin, none of 1,000 slots is reused by the next 1,000 insertions, neither those that a Worker has removed,
// more of them than it keeps.
func TestQuarantineKeepsSlotsFromReuse(t *testing.T) {
	const n = 1000
	for _, byWorker := range []bool{false, true} {
		p := pool.Must[int](nil)
		w := p.Worker()
		insert, remove := p.Insert, p.Remove
		if byWorker {
			insert, remove = w.Insert, w.Remove
		}
		used := map[uint32]bool{}
		for _, h := range testkit.Fill(t, p, n, testkit.Number) {
			used[h.Index()] = true
			require.True(t, remove(h), "the value should be live")
		}
		for range n {
			h, err := insert(1)
			require.NoError(t, err)
			require.False(t, used[h.Index()], "by a Worker %t: slot %d is reused", byWorker, h.Index())
		}
		w.Close()
	}
}

// What fits without the tag fits with it: a slot that is kept from reuse is used before an insertion is refused.
func TestQuarantineRefusesNothing(t *testing.T) {
	for _, capacity := range []int{1, 2, 100, 1500} {
		for _, reuse := range testkit.Reuses {
			for _, shards := range []int{0, 1, 4} {
				for _, preallocate := range []bool{false, true} {
					for _, reset := range []func(*int){nil, func(*int) {}} {
						p := pool.Must(&pool.Options[int]{Capacity: capacity, Reuse: reuse, Shards: shards, Preallocate: preallocate, Reset: reset})
						for range 4 {
							hs := testkit.Fill(t, p, capacity, testkit.Number)
							_, err := p.Insert(0)
							require.ErrorIs(t, err, pool.ErrFull)
							for range 10 { // the last one again and again
								require.True(t, p.Remove(hs[0]), "the value should be live")
								hs[0] = testkit.MustInsert(t, p, 1)
							}
							require.Equal(t, capacity, p.RemoveBatch(hs))
							p.Trim()
						}
						require.LessOrEqual(t, testkit.RequireReclaimed(t, p).Allocated, capacity)
					}
				}
			}
		}
	}
	// With a MaxLimbo, below which little waits for the guard.
	p := pool.Must(&pool.Options[int]{MaxLimbo: 10, Shards: 1})
	for range 10_000 {
		require.True(t, p.Remove(testkit.MustInsert(t, p, 1)), "the value should be live")
	}
	require.Less(t, p.Stats().Allocated, 2*1024+1024)
}

// What may be written is: by Reset, by events, through guards and Refs after the removal, and by constructors. Nobody
// takes it for a late write, while slots come and go, pages too.
func TestRightWritesAreNotTold(t *testing.T) {
	type shared struct {
		n    atomic.Int64
		next *int
		buf  []byte
	}
	events := func(o pool.Options[shared]) *pool.Options[shared] {
		o.OnInsert = func(_ pool.Handle[shared], v *shared) { v.n.Add(1) }
		o.OnRemove = func(_ pool.Handle[shared], v *shared) { v.n.Load() }
		return &o
	}
	reset := func(v *shared) { v.n.Store(-1); v.buf = v.buf[:0] }
	for _, o := range []*pool.Options[shared]{
		{}, {Reset: reset}, events(pool.Options[shared]{}), events(pool.Options[shared]{Reset: reset, Reuse: pool.FIFO}),
		{Capacity: 200, Preallocate: true}, {Capacity: 200, Reset: reset}, {Origin: 1, Shards: 1}, {Origin: 1, Reset: reset}, {MaxLimbo: 50},
	} {
		p := pool.Must(o)
		testkit.Together(4, func(k int) {
			w := p.Worker()
			defer w.Close()
			for i := range 400 {
				g := p.Pin()
				h, err := w.InsertFunc(func(_ pool.Handle[shared], v *shared) { v.n.Store(1); v.next = new(int); v.buf = append(v.buf, 1) })
				if err == nil {
					v, _ := g.Pointer(h)
					r, _ := p.Hold(h)
					if i%2 == 0 {
						w.Remove(h)
					} else {
						p.Remove(h)
					}
					v.n.Add(1) // the guard keeps it
					p.Contains(h)
					g.Unpin()
					r.Pointer().n.Add(1) // the Ref does
					p.Contains(h)
					r.Release()
				} else {
					g.Unpin()
				}
				if rv, err := p.Reserve(); err == nil {
					rv.Pointer().n.Store(3)
					if i%2 == 0 {
						rv.Cancel()
					} else {
						p.Remove(rv.Commit())
					}
				}
				_ = testkit.Recovered(func() {
					_, _ = p.InsertFunc(func(_ pool.Handle[shared], v *shared) { v.n.Store(4); panic("no") })
				})
				if i%50 == 10*k {
					p.Trim()
					p.Stats()
					runtime.GC()
				}
			}
		})
		testkit.RequireReclaimed(t, p)
		p.Trim()
	}
}

// A slot that a Worker gives back in its last generation, or that a Grow puts off, is exhausted and zeroed. Nobody takes
// that for a late write.
func TestExhaustedSlotsAreNotTold(t *testing.T) {
	const n = 300
	for name, exhaust := range map[string]func(*pool.Pool[partly]){
		"Worker": func(p *pool.Pool[partly]) {
			w := p.Worker()
			for range 40 { // it uses some that were never used, and takes more of the others than it uses
				_, err := w.Insert(partly{})
				require.NoError(t, err)
			}
			w.Close()
		},
		"Grow": func(p *pool.Pool[partly]) {
			for h := pool.Handle[partly](0); h.Generation() < testkit.LastGeneration; { // the others are in the freelist
				h = testkit.MustInsert(t, p, partly{})
			}
			p.Grow(n)
		},
	} {
		for _, reset := range []func(*partly){nil, func(v *partly) { v.n = 1 }} {
			o := &pool.Options[partly]{Origin: testkit.LastGeneration - 2, Shards: 1, Reset: reset}
			if name == "Grow" {
				o.Reuse = pool.FIFO
			}
			p := pool.Must(o)
			require.Equal(t, n, p.RemoveBatch(testkit.Fill(t, p, n, func(i int) partly { return partly{n: i, next: new(int)} })))
			require.NoError(t, p.Synchronize(t.Context())) // each slot has a mark, and one life left
			exhaust(p)
			require.Positive(t, p.Stats().Exhausted, name)
			require.NotPanics(t, func() { testkit.RequireReclaimed(t, p) }, name)
		}
	}
}

// A copy from a snapshot has no marks of the original's, and finds late writes itself.
func TestRestoredPoolFindsLateWrites(t *testing.T) {
	p := pool.Must[numbers](nil)
	hs := testkit.Fill(t, p, 3000, func(i int) numbers { return numbers{A: int64(i)} })
	p.RemoveBatch(hs[500:2500])
	q, err := pool.ReadFrom[numbers](bytes.NewReader(testkit.Written(t, p)), nil)
	require.NoError(t, err)
	for range 3000 {
		testkit.MustInsert(t, q, numbers{})
	}
	v, _ := q.Pointer(hs[7])
	require.True(t, q.Remove(hs[7]), "the value should be live")
	require.NoError(t, q.Synchronize(t.Context()))
	v.A++
	testkit.RequirePanicText(t, func() { q.Trim() }, "it was the value of "+hs[7].String()+",")
}

// A large pool is swept in parts, one after the other.
func TestLargePoolIsSweptInParts(t *testing.T) {
	const n = 20_000
	p := pool.Must(&pool.Options[numbers]{Shards: 1})
	hs := testkit.Fill(t, p, n, func(int) numbers { return numbers{} })
	v, _ := p.Pointer(hs[n-10])
	p.RemoveBatch(hs[n-20:])
	require.NoError(t, p.Synchronize(t.Context()))
	v.B = 1
	found := ""
	for k := 0; found == "" && k < sweepEvery*(n/4096+3); k++ {
		if text := testkit.Recovered(func() { testkit.MustInsert(t, p, numbers{}) }); text != nil {
			found = fmt.Sprint(text)
		}
	}
	require.Contains(t, found, "it was the value of "+hs[n-10].String()+",")
}
