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

// The benchmarks compare the forest with trees by hand, on the same trees in one run.
// Rounds of the two alternate, and the ratio is the median over the rounds. Below 1 the
// forest is faster.
//
//	go test -run xxx -bench . -benchtime 1x ./pool/tree
//
// There are trees of several shapes: built in order, so that neighbours lie side by side;
// shuffled in memory; and a long list. Trees by hand are nodes with pointers to each other,
// without generations.

// work does at least n operations and returns how many it did.
type work = func(n int) int

var sink atomic.Uint64

// leaf is the value of the benchmarks: 8 bytes and the links.
type leaf struct {
	n     uint64
	links tree.Links[leaf]
}

func leafLinks(l *leaf) *tree.Links[leaf] { return &l.links }

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

func (c *byPointer) detach() {
	p := c.parent
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		p.first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		p.last = c.prev
	}
	c.parent, c.prev, c.next = nil, nil, nil
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

// shape tells which node is the parent of node i; parents come first.
type shape struct {
	name     string
	parent   func(i int) int
	shuffled bool
}

var shapes = []shape{
	{"shape=eight", func(i int) int { return (i - 1) / 8 }, false},
	{"shape=eight/shuffled", func(i int) int { return (i - 1) / 8 }, true},
	{"shape=list", func(int) int { return 0 }, false},
}

// places returns the positions of the nodes in memory, the top's first.
func (s shape) places(n int) []int {
	at := make([]int, n)
	for i := range at {
		at[i] = i
	}
	if s.shuffled {
		rand.New(rand.NewPCG(1, 2)).Shuffle(n-1, func(i, j int) { at[1+i], at[1+j] = at[1+j], at[1+i] })
	}
	return at
}

func (s shape) forest(b *testing.B, n int) (*pool.Pool[leaf], *tree.Forest[leaf], []pool.Handle[leaf]) {
	p := pool.Must(&pool.Options[leaf]{Shards: 1})
	f := tree.New(p, leafLinks)
	hs := make([]pool.Handle[leaf], n)
	for i := range hs {
		hs[i], _ = p.InsertFunc(func(_ pool.Handle[leaf], l *leaf) { l.n = uint64(i) })
	}
	at := s.places(n)
	for i := 1; i < n; i++ {
		if err := f.Append(hs[at[s.parent(i)]], hs[at[i]]); err != nil {
			b.Fatal(err)
		}
	}
	return p, f, hs
}

func (s shape) pointers(n int) []*byPointer {
	nodes := make([]*byPointer, n)
	for i := range nodes {
		nodes[i] = &byPointer{n: uint64(i)}
	}
	at := s.places(n)
	for i := 1; i < n; i++ {
		nodes[at[s.parent(i)]].append(nodes[at[i]])
	}
	return nodes
}

// over repeats a walk until it has done n steps.
func over(walk func() (steps int, sum uint64)) work {
	return func(n int) int {
		done := 0
		for done < n {
			steps, sum := walk()
			done += steps
			sink.Add(sum)
		}
		return done
	}
}

// overForest and overPointers walk over everything below a node.
func overForest(f *tree.Forest[leaf], h pool.Handle[leaf]) work {
	return over(func() (steps int, sum uint64) {
		for _, v := range f.Descendants(h) {
			sum += v.n
			steps++
		}
		return steps, sum
	})
}

func overPointers(top *byPointer) work {
	return over(func() (steps int, sum uint64) {
		for v := range top.below {
			sum += v.n
			steps++
		}
		return steps, sum
	})
}

func BenchmarkDescendants(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		for _, s := range shapes {
			b.Run(fmt.Sprintf("%s/nodes=%d/base=pointers", s.name, n), func(b *testing.B) {
				_, f, hs := s.forest(b, n)
				testkit.VersusCounted(b, overForest(f, hs[0]), overPointers(s.pointers(n)[0]))
			})
		}
	}
	// A handful of nodes, where the start of the walk matters.
	b.Run("nodes=9/base=pointers", func(b *testing.B) {
		_, f, hs := shapes[0].forest(b, 9)
		testkit.VersusCounted(b, overForest(f, hs[0]), overPointers(shapes[0].pointers(9)[0]))
	})
}

// BenchmarkDetachAppend detaches a node and appends it elsewhere.
func BenchmarkDetachAppend(b *testing.B) {
	s := shapes[0]
	const n = 1000
	_, f, hs := s.forest(b, n)
	nodes := s.pointers(n)
	testkit.VersusCounted(b, func(k int) int {
		for i := range k {
			c := hs[n-1-i%500]
			if f.Detach(c) != nil || f.Append(hs[i%100], c) != nil {
				b.Fatal("an error")
			}
		}
		return k
	}, func(k int) int {
		for i := range k {
			c := nodes[n-1-i%500]
			c.detach()
			nodes[i%100].append(c)
		}
		return k
	})
}
