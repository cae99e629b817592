//go:build !race

package tree_test

import (
	"fmt"
	"iter"
	"testing"

	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// BenchmarkSiblings has figures for a step among the children of one node, or a whole loop
// where it is left early.
func BenchmarkSiblings(b *testing.B) {
	for _, n := range []int{1000, 4000} {
		p := pool.Must(&pool.Options[leaf]{Shards: 1})
		f := tree.New(p, func(l *leaf) *tree.Links[leaf] { return &l.links })
		top, _ := p.Insert(leaf{})
		for range n {
			h, _ := p.Insert(leaf{n: 1})
			if err := f.Append(top, h); err != nil {
				b.Fatal(err)
			}
		}
		// bench repeats a loop, which must see want nodes. Its steps are counted if all are seen.
		bench := func(name string, want int, loop func() int) {
			b.Run(fmt.Sprintf("%s/children=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if got := loop(); got != want {
						b.Fatalf("%d nodes, want %d", got, want)
					}
				}
				if want == n {
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/step")
				}
			})
		}
		count := func(loop iter.Seq2[pool.Handle[leaf], *leaf], most int) (seen int) {
			for _, v := range loop {
				if seen += int(v.n); seen == most {
					break
				}
			}
			return seen
		}
		bench("whole", n, func() int { return count(f.Children(top), n+1) })
		bench("FirstChild", 1, func() int {
			if _, ok := f.FirstChild(top); ok {
				return 1
			}
			return 0
		})
		bench("Next", n, func() (seen int) {
			for h, ok := f.FirstChild(top); ok; h, ok = f.Next(h) {
				seen++
			}
			return seen
		})
		bench("left after 1", 1, func() int { return count(f.Children(top), 1) })
		bench("left after 3", 3, func() int { return count(f.Children(top), 3) })
	}
}
