package tree_test

import (
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// long returns how often a test repeats what the full programme repeats n times, and at
// most a tenth of n where every operation is recorded.
func long(n int) int {
	if testkit.Watched {
		return max(1, n/10)
	}
	return testkit.Long(n)
}

// node is the value of most tests.
type node struct {
	ID    uint64
	Self  handle
	Links tree.Links[node]
}

type handle = pool.Handle[node]

// reads are the reading verbs, of a Forest or of a Reader.
type reads interface {
	Parent(handle) (handle, bool)
	FirstChild(handle) (handle, bool)
	LastChild(handle) (handle, bool)
	Next(handle) (handle, bool)
	Prev(handle) (handle, bool)
	Depth(handle) int
	Children(handle) iter.Seq2[handle, *node]
	Descendants(handle) iter.Seq2[handle, *node]
	PostOrder(handle) iter.Seq2[handle, *node]
	Ancestors(handle) iter.Seq2[handle, *node]
	Roots() iter.Seq2[handle, *node]
}

func linksOf(n *node) *tree.Links[node] { return &n.Links }

// newForest returns a pool whose handles are the same each time, and its forest.
func newForest(t testing.TB) (*pool.Pool[node], *tree.Forest[node]) {
	t.Helper()
	p := pool.Must(&pool.Options[node]{Origin: 1, Shards: 1})
	return p, tree.New(p, linksOf)
}

// add inserts a node that knows its handle.
func add(t testing.TB, p *pool.Pool[node], id uint64) handle {
	t.Helper()
	h, err := p.InsertFunc(func(h handle, n *node) { n.ID, n.Self = id, h })
	require.NoError(t, err)
	return h
}

// addN inserts n nodes.
func addN(t testing.TB, p *pool.Pool[node], n int) []handle {
	t.Helper()
	hs := make([]handle, n)
	for i := range hs {
		hs[i] = add(t, p, uint64(i+1))
	}
	return hs
}

// family inserts a root with n children.
func family(t testing.TB, p *pool.Pool[node], f *tree.Forest[node], n int) (root handle, kids []handle) {
	t.Helper()
	root = add(t, p, 0)
	return root, addBelow(t, p, f, root, n)
}

// addBelow inserts n children of h.
func addBelow(t testing.TB, p *pool.Pool[node], f *tree.Forest[node], h handle, n int) (kids []handle) {
	t.Helper()
	kids = addN(t, p, n)
	for _, k := range kids {
		require.NoError(t, f.Append(h, k))
	}
	return kids
}

// assertForest asserts that neighbours agree, that no link of f needs repair, and that n nodes are roots or below
// one.
func assertForest(t testing.TB, f *tree.Forest[node], n int) {
	t.Helper()
	const parent, first, last, next, prev = 0, 1, 2, 3, 4
	image := tree.Image(f)
	for h, links := range image {
		for _, to := range links {
			if _, live := image[to]; to != 0 && !live {
				t.Errorf("%v leads to %v, which is not live", h, to)
			}
		}
		for _, link := range []int{first, last} {
			if to := links[link]; to != 0 && (image[to][parent] != h || image[to][prev+first-link] != 0) {
				t.Errorf("%v is no child at that end of %v", to, h)
			}
		}
		before, behind, up := links[prev], links[next], image[links[parent]]
		if links[parent] == 0 && before|behind != 0 ||
			before != 0 && (image[before][next] != h || image[before][parent] != links[parent]) ||
			links[parent] != 0 && (before == 0 && up[first] != h || behind == 0 && up[last] != h) {
			t.Errorf("%v stands between %v and %v below %v, which have %v", h, before, behind, links[parent], image)
		}
	}
	assert.Zero(t, f.Repair())
	found := 0
	for h := range f.Roots() {
		found += 1 + len(handles(t, f.Descendants(h)))
	}
	assert.Equal(t, n, found, "nodes below roots")
}

// handles collects what a loop yields.
func handles(t testing.TB, loop iter.Seq2[handle, *node]) (hs []handle) {
	t.Helper()
	for h, n := range loop {
		if n.Self != h {
			t.Fatalf("%v is yielded with the value of %v", h, n.Self)
		}
		hs = append(hs, h)
	}
	return hs
}

// allWalks are the loops over some or all nodes below a node, and the order in which they
// yield them, given the children of each node first to last.
var allWalks = []struct {
	name  string
	loop  func(f reads, h handle) iter.Seq2[handle, *node]
	order func(kids func(handle) []handle, h handle) []handle
}{
	{"Children", reads.Children, func(kids func(handle) []handle, h handle) []handle { return slices.Clone(kids(h)) }},
	{"Descendants", reads.Descendants, preOrder},
	{"PostOrder", reads.PostOrder, postOrder},
}

// neighbours are the verbs that find one, in the order of an Image's links.
var neighbours = []struct {
	name string
	find func(f reads, h handle) (handle, bool)
}{
	{"Parent", reads.Parent},
	{"FirstChild", reads.FirstChild},
	{"LastChild", reads.LastChild},
	{"Next", reads.Next},
	{"Prev", reads.Prev},
}

func preOrder(kids func(handle) []handle, h handle) (all []handle) {
	for _, k := range kids(h) {
		all = append(append(all, k), preOrder(kids, k)...)
	}
	return all
}

func postOrder(kids func(handle) []handle, h handle) (all []handle) {
	for _, k := range kids(h) {
		all = append(append(all, postOrder(kids, k)...), k)
	}
	return all
}
