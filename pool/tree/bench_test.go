package tree_test

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// The benchmarks compare the forest with trees by hand, on the same trees in one run:
//
//	go test -run xxx -bench . -benchtime 1x ./pool/tree
//
// prints ns/op of the forest, base-ns/op of the tree by hand, and their ratio: below 1 the
// forest is faster. Package testkit tells how it is measured. Trees by hand are nodes with
// pointers to each other, without generations.

var sink atomic.Uint64

// leaf is the value of the benchmarks: 8 bytes and the links.
type leaf struct {
	n     uint64
	links tree.Links[leaf]
}

// byPointer is a node of a tree by hand.
type byPointer struct {
	n                               uint64
	parent, first, last, next, prev *byPointer
}

func (p *byPointer) append(c *byPointer) {
	c.parent, c.prev = p, p.last
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

// grow makes a tree of n nodes, and its like by hand. Each node has that many children, and
// neighbours lie side by side in memory unless they are shuffled.
func grow(b *testing.B, n, children int, shuffled bool) (*tree.Forest[leaf], []pool.Handle[leaf], []*byPointer) {
	p := pool.Must(&pool.Options[leaf]{Shards: 1})
	f := tree.New(p, func(l *leaf) *tree.Links[leaf] { return &l.links })
	hs, nodes := make([]pool.Handle[leaf], n), make([]*byPointer, n)
	at := make([]int, n)
	for i := range hs {
		hs[i], _ = p.InsertFunc(func(_ pool.Handle[leaf], l *leaf) { l.n = uint64(i) })
		nodes[i], at[i] = &byPointer{n: uint64(i)}, i
	}
	if shuffled {
		rand.New(rand.NewPCG(1, 2)).Shuffle(n-1, func(i, j int) { at[1+i], at[1+j] = at[1+j], at[1+i] })
	}
	for i := 1; i < n; i++ {
		parent, child := at[(i-1)/children], at[i]
		nodes[parent].append(nodes[child])
		if err := f.Append(hs[parent], hs[child]); err != nil {
			b.Fatal(err)
		}
	}
	return f, hs, nodes
}

// over repeats a walk until it has done n steps.
func over(walk func() (steps int, sum uint64)) func(n int) int {
	return func(n int) (done int) {
		for done < n {
			steps, sum := walk()
			done += steps
			sink.Add(sum)
		}
		return done
	}
}

// BenchmarkDescendants walks over all nodes of a tree: of a handful, where the start of the
// walk matters, and of many, in order, shuffled in memory, and in one list.
func BenchmarkDescendants(b *testing.B) {
	for _, c := range []struct {
		nodes, children int
		shuffled        bool
	}{{9, 8, false}, {1000, 8, false}, {1_000_000, 8, false}, {1_000_000, 8, true}, {1_000_000, 1_000_000, false}} {
		b.Run(fmt.Sprintf("nodes=%d/children=%d/shuffled=%v/base=pointers", c.nodes, c.children, c.shuffled), func(b *testing.B) {
			f, hs, nodes := grow(b, c.nodes, c.children, c.shuffled)
			testkit.VersusCounted(b, over(func() (steps int, sum uint64) {
				for _, v := range f.Descendants(hs[0]) {
					sum += v.n
					steps++
				}
				return steps, sum
			}), over(func() (steps int, sum uint64) {
				for v := range nodes[0].below {
					sum += v.n
					steps++
				}
				return steps, sum
			}))
		})
	}
}
