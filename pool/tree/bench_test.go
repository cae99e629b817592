//go:build !race

package tree_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

var sink atomic.Uint64

// leaf is the value of the benchmark: 8 bytes and the links.
type leaf struct {
	n     uint64
	links tree.Links[leaf]
}

// byPointer is a node of a tree by hand, without generations.
type byPointer struct {
	n                         uint64
	parent, first, last, next *byPointer
}

func (p *byPointer) append(c *byPointer) {
	c.parent = p
	if p.last != nil {
		p.last.next = c
	} else {
		p.first = c
	}
	p.last = c
}

// below calls f for all nodes below top, in pre-order, without recursion.
func (top *byPointer) below(f func(*byPointer) bool) {
	for at := top; ; {
		if at.first != nil {
			at = at.first
		} else {
			for at != top && at.next == nil {
				at = at.parent
			}
			if at == top {
				return
			}
			at = at.next
		}
		if !f(at) {
			return
		}
	}
}

// BenchmarkDescendants walks over all nodes of a tree, of a handful, where the start of the
// walk matters, and of many. It compares the forest with a tree by hand on the same work:
//
//	go test -run '^$' -bench . -benchtime 1x ./pool/tree
//
// prints ns/op of a step in the forest, base-ns/op of the tree by hand, and their ratio.
func BenchmarkDescendants(b *testing.B) {
	const children = 8
	for _, n := range []int{1 + children, 1000, 1_000_000} {
		p := pool.Must(&pool.Options[leaf]{Shards: 1})
		f := tree.New(p, func(l *leaf) *tree.Links[leaf] { return &l.links })
		hs, nodes := make([]pool.Handle[leaf], n), make([]byPointer, n)
		for i := range hs {
			hs[i], _ = p.InsertFunc(func(_ pool.Handle[leaf], l *leaf) { l.n = uint64(i) })
			nodes[i].n = uint64(i)
			if i > 0 {
				parent := (i - 1) / children
				nodes[parent].append(&nodes[i])
				if err := f.Append(hs[parent], hs[i]); err != nil {
					b.Fatal(err)
				}
			}
		}
		// walks repeats a walk until it has done so many steps.
		walks := func(sum func() uint64) func(steps int) int {
			return func(steps int) (done int) {
				for ; done < steps; done += n - 1 {
					sink.Add(sum())
				}
				return done
			}
		}
		descendants := walks(func() (sum uint64) {
			for _, v := range f.Descendants(hs[0]) {
				sum += v.n
			}
			return sum
		})
		b.Run(fmt.Sprintf("nodes=%d/base=pointers", n), func(b *testing.B) {
			testkit.VersusCounted(b, descendants, walks(func() (sum uint64) {
				for v := range nodes[0].below {
					sum += v.n
				}
				return sum
			}))
		})
		b.Run(fmt.Sprintf("nodes=%d/impl=PostOrder/base=Descendants", n), func(b *testing.B) {
			testkit.VersusCounted(b, walks(func() (sum uint64) {
				for _, v := range f.PostOrder(hs[0]) {
					sum += v.n
				}
				return sum
			}), descendants)
		})
	}
}
