//go:build !race

package tree_test

import (
	"iter"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// hand is a forest as one writes it by hand, for one goroutine: a slice of structs, whose links are
// an index and a generation. It finds out that a handle is stale, and trusts its links.
type hand struct{ nodes []handNode }

type handNode struct {
	generation                      uint32
	n                               uint64
	parent, first, last, next, prev handName
}

type handName uint64

func (t *hand) at(h handName) *handNode {
	if i := uint32(h); int(i) < len(t.nodes) && t.nodes[i].generation == uint32(h>>32) {
		return &t.nodes[i]
	}
	return nil
}

func (t *hand) insert(n uint64) handName {
	t.nodes = append(t.nodes, handNode{generation: 1, n: n})
	return handName(1<<32 | uint64(len(t.nodes)-1))
}

func (t *hand) parent(h handName) (handName, bool) {
	if n := t.at(h); n != nil {
		return n.parent, n.parent != 0
	}
	return 0, false
}

func (t *hand) next(h handName) (handName, bool) {
	if n := t.at(h); n != nil {
		return n.next, n.next != 0
	}
	return 0, false
}

func (t *hand) firstChild(h handName) (handName, bool) {
	if n := t.at(h); n != nil {
		return n.first, n.first != 0
	}
	return 0, false
}

func (t *hand) depth(h handName) (d int) {
	n := t.at(h)
	if n == nil {
		return -1
	}
	for ; n.parent != 0; d++ {
		n = t.at(n.parent)
	}
	return d
}

func (t *hand) children(h handName) iter.Seq2[handName, *handNode] {
	return func(yield func(handName, *handNode) bool) {
		n := t.at(h)
		if n == nil {
			return
		}
		for at := n.first; at != 0; {
			c := t.at(at)
			next := c.next
			if !yield(at, c) {
				return
			}
			at = next
		}
	}
}

func (t *hand) ancestors(h handName) iter.Seq2[handName, *handNode] {
	return func(yield func(handName, *handNode) bool) {
		n := t.at(h)
		if n == nil {
			return
		}
		for at := n.parent; at != 0; {
			n = t.at(at)
			if !yield(at, n) {
				return
			}
			at = n.parent
		}
	}
}

func (t *hand) descendants(top handName) iter.Seq2[handName, *handNode] {
	return func(yield func(handName, *handNode) bool) {
		n := t.at(top)
		if n == nil {
			return
		}
		for at := top; ; {
			switch {
			case n.first != 0:
				at = n.first
			default:
				for at != top && n.next == 0 {
					at = n.parent
					n = t.at(at)
				}
				if at == top {
					return
				}
				at = n.next
			}
			if n = t.at(at); !yield(at, n) {
				return
			}
		}
	}
}

func (t *hand) roots() iter.Seq2[handName, *handNode] {
	return func(yield func(handName, *handNode) bool) {
		for i := range t.nodes {
			if n := &t.nodes[i]; n.generation%2 == 1 && n.parent == 0 && !yield(handName(n.generation)<<32|handName(i), n) {
				return
			}
		}
	}
}

func (t *hand) unlink(h handName, n *handNode) {
	p := t.at(n.parent)
	if p == nil {
		return
	}
	if n.prev != 0 {
		t.at(n.prev).next = n.next
	} else {
		p.first = n.next
	}
	if n.next != 0 {
		t.at(n.next).prev = n.prev
	} else {
		p.last = n.prev
	}
	n.parent, n.prev, n.next = 0, 0, 0
}

// move trusts that no cycle arises if h has no children, as the forest does.
func (t *hand) move(h, parent handName) bool {
	n, p := t.at(h), t.at(parent)
	if n == nil || p == nil || h == parent {
		return false
	}
	if n.first != 0 {
		for at := parent; at != 0; at = t.at(at).parent {
			if at == h {
				return false
			}
		}
	}
	t.unlink(h, n)
	n.parent, n.prev = parent, p.last
	if p.last != 0 {
		t.at(p.last).next = h
	} else {
		p.first = h
	}
	p.last = h
	return true
}

// BenchmarkByHand compares the verbs with [hand], in a tree of 1,000 nodes with 8 children each, in a
// phase, under one pin, and each with a pin of its own:
//
//	go test -run xxx -bench ByHand -benchtime 1x ./pool/tree
//
// prints ns/op of the forest, base-ns/op by hand, and the ratio.
func BenchmarkByHand(b *testing.B) {
	for _, row := range handRows(b) {
		b.Run(row.name, func(b *testing.B) { testkit.VersusCounted(b, row.subject, row.base) })
	}
}

// handRow is a row of BenchmarkByHand.
type handRow struct {
	name          string
	subject, base func(n int) int
}

func handRows(b testing.TB) (rows []handRow) {
	const nodes, children = 1000, 8
	p := pool.Must(&pool.Options[leaf]{Shards: 1})
	f := tree.New(p, func(l *leaf) *tree.Links[leaf] { return &l.links })
	hs, t, names := make([]pool.Handle[leaf], nodes), new(hand), make([]handName, nodes)
	for i := range hs {
		hs[i], _ = p.InsertFunc(func(_ pool.Handle[leaf], l *leaf) { l.n = uint64(i) })
		names[i] = t.insert(uint64(i))
		if i > 0 {
			parent := (i - 1) / children
			t.move(names[i], names[parent])
			if err := f.Append(hs[parent], hs[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
	pinned, phase := f.Pin(), f.Phase()
	b.Cleanup(pinned.Unpin)
	// passes repeats a pass over so many nodes. Each has its own loop, as a program has.
	passes := func(nodes int, pass func() uint64) func(n int) int {
		return func(n int) (done int) {
			for ; done < n; done += nodes {
				sink.Add(pass())
			}
			return done
		}
	}
	compare := func(verb, how string, subject, base func(n int) int) {
		rows = append(rows, handRow{verb + "/by=" + how, subject, base})
	}
	// These are bases of several rows.
	parents := passes(nodes, func() (sum uint64) {
		for _, h := range names {
			to, _ := t.parent(h)
			sum += uint64(to)
		}
		return sum
	})
	nexts := passes(nodes, func() (sum uint64) {
		for _, h := range names {
			to, _ := t.next(h)
			sum += uint64(to)
		}
		return sum
	})
	families := passes(100, func() (sum uint64) {
		for _, h := range names[:100] {
			for _, v := range t.children(h) {
				sum += v.n
			}
		}
		return sum
	})
	for i, r := range []*tree.Reader[leaf]{&phase, &pinned} {
		how := []string{"phase", "pin"}[i]
		compare("Parent", how, passes(nodes, func() (sum uint64) {
			for _, h := range hs {
				to, _ := r.Parent(h)
				sum += uint64(to)
			}
			return sum
		}), parents)
		compare("FirstChild", how, passes(nodes, func() (sum uint64) {
			for _, h := range hs {
				to, _ := r.FirstChild(h)
				sum += uint64(to)
			}
			return sum
		}), passes(nodes, func() (sum uint64) {
			for _, h := range names {
				to, _ := t.firstChild(h)
				sum += uint64(to)
			}
			return sum
		}))
		compare("Next", how, passes(nodes, func() (sum uint64) {
			for _, h := range hs {
				to, _ := r.Next(h)
				sum += uint64(to)
			}
			return sum
		}), nexts)
		compare("Depth", how, passes(nodes, func() (sum uint64) {
			for _, h := range hs {
				sum += uint64(r.Depth(h))
			}
			return sum
		}), passes(nodes, func() (sum uint64) {
			for _, h := range names {
				sum += uint64(t.depth(h))
			}
			return sum
		}))
		compare("Children of 8", how, passes(100, func() (sum uint64) {
			for _, h := range hs[:100] {
				for _, v := range r.Children(h) {
					sum += v.n
				}
			}
			return sum
		}), families)
		compare("Ancestors", how, passes(nodes, func() (sum uint64) {
			for _, h := range hs[:] {
				for _, v := range r.Ancestors(h) {
					sum += v.n
				}
			}
			return sum
		}), passes(nodes, func() (sum uint64) {
			for _, h := range names[:] {
				for _, v := range t.ancestors(h) {
					sum += v.n
				}
			}
			return sum
		}))
		compare("Descendants, a node", how, passes(nodes-1, func() (sum uint64) {
			for _, h := range hs[:1] {
				for _, v := range r.Descendants(h) {
					sum += v.n
				}
			}
			return sum
		}), passes(nodes-1, func() (sum uint64) {
			for _, h := range names[:1] {
				for _, v := range t.descendants(h) {
					sum += v.n
				}
			}
			return sum
		}))
		compare("Roots, a slot", how, passes(nodes, func() (sum uint64) {
			for _, v := range r.Roots() {
				sum += v.n
			}
			return sum
		}), passes(nodes, func() (sum uint64) {
			for _, v := range t.roots() {
				sum += v.n
			}
			return sum
		}))
	}
	how := "call"
	compare("Parent", how, passes(nodes, func() (sum uint64) {
		for _, h := range hs {
			to, _ := f.Parent(h)
			sum += uint64(to)
		}
		return sum
	}), parents)
	compare("Next", how, passes(nodes, func() (sum uint64) {
		for _, h := range hs {
			to, _ := f.Next(h)
			sum += uint64(to)
		}
		return sum
	}), nexts)
	compare("Children of 8", how, passes(100, func() (sum uint64) {
		for _, h := range hs[:100] {
			for _, v := range f.Children(h) {
				sum += v.n
			}
		}
		return sum
	}), families)
	compare("Move", how, passes(nodes-200, func() uint64 {
		for i, h := range hs[200:] {
			if f.Move(hs[i%100], h) != nil {
				b.Fatal("Move")
			}
		}
		return 0
	}), passes(nodes-200, func() uint64 {
		for i, h := range names[200:] {
			if !t.move(h, names[i%100]) {
				b.Fatal("move")
			}
		}
		return 0
	}))
	return rows
}
