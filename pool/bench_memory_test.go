package pool_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// churners are goroutines that insert and remove, eight values each, and note the
// longest that an insertion with a removal has taken.
type churners struct {
	stop    atomic.Bool
	longest atomic.Int64
	failed  atomic.Int64
	wg      sync.WaitGroup
}

func churning(p *pool.Pool[small], n int) *churners {
	c := new(churners)
	for range n {
		c.wg.Add(1)
		go func() {
			defer c.wg.Done()
			var hs [8]pool.Handle[small]
			for i := 0; !c.stop.Load(); i++ {
				start := time.Now()
				k := i % len(hs)
				p.Remove(hs[k])
				h, err := p.Insert(small{uint64(i), 1})
				if err != nil {
					c.failed.Add(1)
				}
				hs[k] = h
				if took := int64(time.Since(start)); took > c.longest.Load() {
					c.longest.Store(took)
				}
			}
			p.RemoveBatch(hs[:])
		}()
	}
	return c
}

// BenchmarkTrim trims after a peak of a million 16-byte values, of which a thousand
// survive or none, alone or beside eight goroutines that insert and remove. It reports the
// memory before and after, how long Trim took, and the longest that a churning
// goroutine took for an insertion and a removal while nobody trimmed and while
// somebody did; where goroutines outnumber processors, that is mostly their turn to
// run.
func BenchmarkTrim(b *testing.B) {
	const peak, survivors = 1_000_000, 1_000
	for _, c := range []struct {
		left  string
		hands int
	}{{"none", 0}, {"none", 8}, {"clustered", 8}, {"scattered", 0}, {"scattered", 8}} {
		left, hands := c.left, c.hands
		b.Run(fmt.Sprintf("survivors=%s/goroutines=%d", left, hands), func(b *testing.B) {
			for b.Loop() {
				p := pool.Must[small](nil)
				c := churning(p, hands)
				hs := make([]pool.Handle[small], peak)
				for i := range hs {
					hs[i], _ = p.Insert(small{uint64(i), 1})
				}
				switch left {
				case "clustered":
					hs = hs[survivors:]
				case "scattered":
					r := rand.New(rand.NewPCG(1, 1))
					r.Shuffle(peak, func(i, j int) { hs[i], hs[j] = hs[j], hs[i] })
					hs = hs[survivors:]
				}
				p.RemoveBatch(hs)
				c.longest.Store(0)
				time.Sleep(20 * time.Millisecond)
				undisturbed := c.longest.Swap(0)
				before := p.Stats().Bytes
				start := time.Now()
				freed := p.Trim()
				took := time.Since(start)
				beside := c.longest.Load()
				c.stop.Store(true)
				c.wg.Wait()
				if c.failed.Load() > 0 {
					b.Fatalf("%d insertions failed", c.failed.Load())
				}
				b.ReportMetric(float64(took)/peak, "ns/slot")
				b.ReportMetric(float64(before)/1e6, "before-MB")
				b.ReportMetric(float64(before-freed)/1e6, "after-MB")
				b.ReportMetric(float64(undisturbed)/1e6, "longest-ms")
				b.ReportMetric(float64(beside)/1e6, "longest-beside-ms")
			}
		})
	}
}

// BenchmarkGrowthAfterTrim fills a pool of 8,000 pages, empties it, trims it, and
// fills it again. It reports how long either took, and their ratio: above 1, memory
// that comes back costs more than memory did at first.
func BenchmarkGrowthAfterTrim(b *testing.B) {
	type value = [2]uint64 // 64 KiB are 2,730 slots
	const slots = 8_000 * 1024
	hs := make([]pool.Handle[value], slots)
	fill := func(p *pool.Pool[value]) float64 {
		runtime.GC()
		return testkit.Timed(func() {
			for i := range hs {
				hs[i], _ = p.Insert(value{uint64(i)})
			}
		}) / 1e6
	}
	var first, again, ratios []float64
	for b.Loop() {
		fill(pool.Must[value](nil)) // so that the process has the memory
		p := pool.Must[value](nil)
		first = append(first, fill(p))
		p.RemoveBatch(hs)
		p.Trim()
		again = append(again, fill(p))
		ratios = append(ratios, again[len(again)-1]/first[len(first)-1])
	}
	b.ReportMetric(testkit.Median(first), "first-ms")
	b.ReportMetric(testkit.Median(again), "again-ms")
	b.ReportMetric(testkit.Median(ratios), "ratio")
}

// BenchmarkAfterTrim is churn in a pool that was trimmed, against a pool that was
// not: both had a peak of a million and have a thousand values left, in order.
func BenchmarkAfterTrim(b *testing.B) {
	const peak, live = 1_000_000, 1_000
	make := func(trim bool) work {
		p := pool.Must[small](nil)
		hs := make([]pool.Handle[small], peak)
		for i := range hs {
			hs[i], _ = p.Insert(small{uint64(i), 1})
		}
		p.RemoveBatch(hs[live:])
		if trim {
			p.Trim()
		}
		r := rand.New(rand.NewPCG(1, 1))
		return func(n int) {
			for i := range n {
				k := r.IntN(live)
				p.Remove(hs[k])
				hs[k], _ = p.Insert(small{uint64(i), 1})
			}
		}
	}
	b.Run("impl=trimmed/base=untrimmed", func(b *testing.B) { versus(b, make(true), make(false)) })
}

// BenchmarkBesideRefs is an insertion with a removal while Refs are held, against
// the same without. The cost of reclaiming must not depend on how many there are.
func BenchmarkBesideRefs(b *testing.B) {
	make := func(worker bool, refs int) work {
		p := pool.Must[small](nil)
		for i := range refs {
			h, _ := p.Insert(small{uint64(i), 1})
			if r, ok := p.Hold(h); !ok || r == nil {
				panic("not held")
			}
			if i%2 == 0 {
				p.Remove(h)
			}
		}
		if worker {
			w := p.Worker()
			return func(n int) {
				for i := range n {
					h, _ := w.Insert(small{uint64(i), 1})
					w.Remove(h)
				}
				runtime.KeepAlive(w)
			}
		}
		return func(n int) {
			for i := range n {
				h, _ := p.Insert(small{uint64(i), 1})
				p.Remove(h)
			}
		}
	}
	for _, refs := range []int{1, 10_000} {
		b.Run(fmt.Sprintf("impl=pool/refs=%d/base=norefs", refs), func(b *testing.B) { versus(b, make(false, refs), make(false, 0)) })
		b.Run(fmt.Sprintf("impl=worker/refs=%d/base=norefs", refs), func(b *testing.B) { versus(b, make(true, refs), make(true, 0)) })
	}
}

// BenchmarkHold holds and releases one value, against pinning, looking at it and
// unpinning.
func BenchmarkHold(b *testing.B) {
	p := pool.Must[small](nil)
	h, _ := p.Insert(small{1, 1})
	b.Run("impl=hold/base=pin", func(b *testing.B) {
		versus(b, func(n int) {
			for range n {
				r, _ := p.Hold(h)
				r.Value().twice++
				r.Release()
			}
		}, func(n int) {
			for range n {
				g := p.Pin()
				v, _ := g.Get(h)
				v.twice++
				g.Unpin()
			}
		})
	})
}
