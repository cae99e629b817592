//go:build !race

package pool_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/shard/slots"
)

// After a peak, with little live, Trim gives the memory back, by Stats and by the Go heap. A Ref
// that was released, and a Worker that goes on to insert, keep nothing of it.
func TestTrimGivesMemoryBack(t *testing.T) {
	type large [1 << 10]byte
	for _, reuse := range testkit.Reuses {
		p := pool.Must(&pool.Options[large]{Reuse: reuse})
		w := p.Worker()
		hs := testkit.Fill(t, p, 40_000, func(int) large { return large{} })
		for _, h := range hs[:100] {
			require.True(t, w.Remove(h), "the value should be live") // so that its table is that of the peak
		}
		for range 100 {
			h, err := w.Insert(large{})
			require.NoError(t, err)
			hs = append(hs, h)
		}
		var refs []*pool.Ref[large]
		for i := 0; i < len(hs); i += 50 {
			if r, ok := p.Hold(hs[i]); ok {
				refs = append(refs, r)
				defer r.Handle()
			}
		}
		p.RemoveBatch(hs)
		for _, r := range refs {
			r.Release()
		}
		require.NoError(t, p.Synchronize(t.Context()))
		heap, before := testkit.Heap(), p.Stats().Bytes
		freed := p.Trim()
		require.Greater(t, freed, int64(30<<20))
		require.Equal(t, before-testkit.RequireConserved(t, p).Bytes, freed)
		require.Zero(t, p.Trim(), "a second Trim found more")
		for range 1000 {
			_, err := w.Insert(large{})
			require.NoError(t, err)
		}
		require.Greater(t, heap-testkit.Heap(), freed*8/10, "the Go heap did not get it back")
		runtime.KeepAlive(refs)
		w.Close()
	}
}

// Trim gives up what Grow made, but for the pages that have values and those that the Capacity cuts.
func TestTrimGivesUpWhatGrowMade(t *testing.T) {
	testTrimAfterGrow[[8]byte](t, 1<<16, 128, 1<<14)
	testTrimAfterGrow[[8000]byte](t, 200, 4, 16)
	testTrimAfterGrow[[100_000]byte](t, 60, 4, 2)
}

// testTrimAfterGrow requires that at most so many slots stay: used, for a few values, and cut, of a page
// that the Capacity cuts.
func testTrimAfterGrow[T any](t *testing.T, n, used, cut int) {
	var zero T
	for _, reuse := range testkit.Reuses {
		for capacity, cut := range map[int]int{0: 0, n - 3: cut} {
			for _, live := range []int{0, 3} {
				p := pool.Must(&pool.Options[T]{Shards: 1, Capacity: capacity, Reuse: reuse})
				p.Grow(n)
				made := p.Stats()
				hs := testkit.Fill(t, p, live, func(int) T { return zero })
				freed := p.Trim()
				after := testkit.RequireConserved(t, p)
				what := fmt.Sprintf("%T, %s, Capacity %d, %d live", zero, testkit.NameOf(reuse), capacity, live)
				require.Equal(t, made.Bytes-after.Bytes, freed, what)
				require.LessOrEqual(t, after.Allocated, min(live, 1)*used+cut, what)
				for range made.Allocated - live {
					hs = append(hs, testkit.MustInsert(t, p, zero))
				}
				require.Equal(t, made.Allocated, testkit.RequireConserved(t, p).Live, what)
				require.Equal(t, len(hs), p.RemoveBatch(hs), what)
				testkit.RequireReclaimed(t, p)
				p.Trim()
				require.LessOrEqual(t, testkit.RequireConserved(t, p).Allocated, cut, what)
			}
		}
	}
}

// Pages that come back share a copy of the table: growth after Trim allocates little
// more than what it brings back, however many pages there are, and has at most as much again as
// it needs, and a 64th of what there was, which the next Trim gives back.
func TestPagesComeBackTogether(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	const pages, perPage = 4000, 256
	for _, reuse := range testkit.Reuses {
		p, err := pool.NewSized(&pool.Options[object]{Reuse: reuse, Shards: 1}, slots.PageSizes{Unit: 6, Page: 8})
		require.NoError(t, err)
		hs := make([]pool.Handle[object], pages*perPage)
		grow := func() float64 {
			return float64(testkit.Allocated(func() {
				for i := range hs {
					if hs[i], err = p.Insert(object{}); err != nil {
						t.Fatal(err)
					}
					if i%(400*perPage) == 0 || i == perPage { // these read all slots
						// The queue's slots, and those of a page that is in use and one that is not.
						most := i + min(i, len(hs)/64) + 3*perPage
						require.LessOrEqual(t, p.Stats().Allocated, most, "%d are live", i+1)
						testkit.RequireConserved(t, p)
					}
				}
			}))
		}
		first := grow()
		require.Equal(t, len(hs), p.RemoveBatch(hs))
		require.Positive(t, p.Trim())
		require.Less(t, grow()/first, 2.0, reuse)
		require.Equal(t, len(hs)-len(hs)/3, p.RemoveBatch(hs[len(hs)/3:]))
		before := p.Stats().Bytes
		freed := p.Trim()
		require.Equal(t, before-p.Stats().Bytes, freed)
		testkit.MustInsert(t, p, object{}) // and so have others come back
		testkit.Fill(t, p, 2*perPage, func(int) object { return object{} })
		before = p.Stats().Bytes
		require.Greater(t, pool.Unused(p), 4*perPage)
		freed = p.Trim()
		require.Equal(t, before-p.Stats().Bytes, freed)
		require.Less(t, pool.Unused(p), 2*perPage)
		testkit.RequireConserved(t, p)
	}
}

// Trim leaves a pool with Preallocate alone, and one with a single page.
func TestTrimLeavesFixedPoolsAlone(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Capacity: 10_000, Preallocate: true})
	require.Zero(t, p.Trim())
	require.Equal(t, 10_000, p.Stats().Allocated)
	single := pool.Must[int](nil)
	single.Remove(testkit.MustInsert(t, single, 1))
	require.NoError(t, single.Synchronize(context.Background())) // or Trim would make lists for it
	before := single.Stats()
	require.Zero(t, single.Trim())
	require.Equal(t, before.Bytes, single.Stats().Bytes)
}

// TestTrimKeepsTheRestOfAPage: the slots of a page in use that no shard had yet, in front of pages that
// Trim gives up, are still there for insertions.
func TestTrimKeepsTheRestOfAPage(t *testing.T) {
	const capacity = 3000
	p := pool.Must(&pool.Options[int]{Capacity: capacity, Shards: 1})
	hs := testkit.Fill(t, p, 520, testkit.Number) // some batches of the page that begins at 512
	p.Grow(2000)
	require.Positive(t, p.Trim(), "Trim gives up what Grow made")
	hs = append(hs, testkit.Fill(t, p, capacity-len(hs), testkit.Number)...)
	require.Len(t, hs, capacity)
}

// TestTrimOrdersSparsePools: if values are left in every page, few in each, no page goes, and the next
// insertions use the first pages. If many are left, Trim does not visit the lists.
func TestTrimOrdersSparsePools(t *testing.T) {
	for _, each := range []int{2, 64} {
		p := pool.Must(&pool.Options[uint64]{Shards: 1})
		hs := testkit.Fill(t, p, 1<<14, func(k int) uint64 { return uint64(k) })
		var removed []pool.Handle[uint64]
		for k, h := range hs {
			if k%each != 0 {
				removed = append(removed, h)
			}
		}
		p.RemoveBatch(removed)
		require.NoError(t, p.Synchronize(context.Background())) // or Trim gives back lists
		require.Zero(t, p.Trim())
		for range 1000 {
			h, err := p.Insert(0)
			require.NoError(t, err)
			require.Equal(t, each == 64, h.Index() < 1024, "one in %d is left, and index %d is used", each, h.Index())
		}
	}
}

// BenchmarkTrim shows what Trims bring a pool to after a peak. Of a million values 1,000 are left at
// random. Then goroutines replace 100,000 values, and Trim is called, eight times:
//
//	go test -run '^$' -bench Trim -benchtime 1x ./pool
//
// It reports the pool's memory before, after the fifth Trim, and at the end; and how long the first Trim
// takes, which follows lists that are in the order of removals, and the second.
func BenchmarkTrim(b *testing.B) {
	const peak, left, replaced, trims = 1 << 20, 1000, 100_000, 8
	for _, goroutines := range []int{1, 4} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			for b.Loop() {
				p := pool.Must(&pool.Options[plain]{Shards: goroutines})
				values := make([][]pool.Handle[plain], goroutines)
				each := func(f func(r *rand.Rand, mine *[]pool.Handle[plain])) {
					var all sync.WaitGroup
					for k := range goroutines {
						all.Add(1)
						go func() {
							defer all.Done()
							f(rand.New(rand.NewPCG(1, uint64(k))), &values[k])
						}()
					}
					all.Wait()
				}
				insert := func() pool.Handle[plain] {
					h, err := p.Insert(plain{})
					if err != nil {
						b.Error(err)
					}
					return h
				}
				each(func(r *rand.Rand, mine *[]pool.Handle[plain]) {
					for range peak / goroutines {
						*mine = append(*mine, insert())
					}
					hs := *mine
					r.Shuffle(len(hs), func(i, j int) { hs[i], hs[j] = hs[j], hs[i] })
					p.RemoveBatch(hs[left/goroutines:])
					*mine = hs[:left/goroutines]
				})
				megabytes := func() float64 { return float64(p.Stats().Bytes) / 1e6 }
				b.ReportMetric(megabytes(), "MB-before")
				for k := range trims {
					each(func(r *rand.Rand, mine *[]pool.Handle[plain]) {
						for range replaced / goroutines {
							i := r.IntN(len(*mine))
							p.Remove((*mine)[i])
							(*mine)[i] = insert()
						}
					})
					start := time.Now()
					p.Trim()
					took := float64(time.Since(start)) / 1e6
					switch k {
					case 0:
						b.ReportMetric(took, "ms-first")
					case 1:
						b.ReportMetric(took, "ms-second")
					case 4:
						b.ReportMetric(megabytes(), "MB-after-5")
					}
				}
				b.ReportMetric(megabytes(), "MB-after-8")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
