//go:build !race

package pool_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"coatcheck/pool"
)

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
