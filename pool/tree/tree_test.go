package tree_test

import (
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

func TestErrorsChangeNothing(t *testing.T) {
	p, f := newForest(t)
	q, _ := newForest(t)
	root, kids := family(t, p, f, 3)
	top := add(t, p, 9)
	require.NoError(t, f.Append(top, root))
	loose, gone := add(t, p, 10), add(t, p, 11)
	require.True(t, p.Remove(gone))
	addN(t, q, 20)
	foreign := add(t, q, 1)
	require.False(t, p.Contains(foreign))

	for _, h := range []handle{0, gone, foreign} {
		unchanged(t, f, func() {
			assert.ErrorIs(t, f.Append(h, loose), tree.ErrStale)
			assert.ErrorIs(t, f.Append(root, h), tree.ErrStale)
			assert.ErrorIs(t, f.Append(h, h), tree.ErrStale)
			assert.ErrorIs(t, f.Prepend(h, loose), tree.ErrStale)
			assert.ErrorIs(t, f.Prepend(root, h), tree.ErrStale)
			assert.ErrorIs(t, f.InsertAfter(h, loose), tree.ErrStale)
			assert.ErrorIs(t, f.InsertAfter(kids[0], h), tree.ErrStale)
			assert.ErrorIs(t, f.InsertBefore(h, loose), tree.ErrStale)
			assert.ErrorIs(t, f.InsertBefore(kids[0], h), tree.ErrStale)
			assert.ErrorIs(t, f.Move(h, root), tree.ErrStale)
			assert.ErrorIs(t, f.Move(loose, h), tree.ErrStale)
			assert.ErrorIs(t, f.Detach(h), tree.ErrStale)
			assert.Zero(t, f.Remove(h))
			assert.Equal(t, -1, f.Depth(h))
			for _, w := range allWalks {
				assert.Empty(t, handles(t, w.loop(f, h)))
			}
			assert.Empty(t, handles(t, f.Ancestors(h)))
			for _, look := range []func(handle) (handle, bool){f.Parent, f.FirstChild, f.LastChild, f.Next, f.Prev} {
				_, ok := look(h)
				assert.False(t, ok)
			}
		})
	}
	unchanged(t, f, func() {
		for _, h := range []handle{top, loose} {
			assert.ErrorIs(t, f.Append(h, h), tree.ErrCycle)
			assert.ErrorIs(t, f.Prepend(h, h), tree.ErrCycle)
			assert.ErrorIs(t, f.InsertAfter(h, h), tree.ErrCycle)
			assert.ErrorIs(t, f.InsertBefore(h, h), tree.ErrCycle)
			assert.ErrorIs(t, f.Move(h, h), tree.ErrCycle)
		}
		assert.ErrorIs(t, f.Append(kids[1], top), tree.ErrCycle)
		assert.ErrorIs(t, f.Prepend(kids[1], top), tree.ErrCycle)
		assert.ErrorIs(t, f.InsertAfter(kids[1], top), tree.ErrCycle)
		assert.ErrorIs(t, f.InsertBefore(kids[1], top), tree.ErrCycle)
		assert.ErrorIs(t, f.Move(root, kids[1]), tree.ErrCycle)
		assert.ErrorIs(t, f.Move(top, kids[1]), tree.ErrCycle)
		assert.ErrorIs(t, f.Move(kids[0], kids[0]), tree.ErrCycle)

		assert.ErrorIs(t, f.Append(loose, kids[0]), tree.ErrHasParent)
		assert.ErrorIs(t, f.Prepend(root, kids[2]), tree.ErrHasParent)
		assert.ErrorIs(t, f.InsertAfter(kids[0], kids[1]), tree.ErrHasParent)
		assert.ErrorIs(t, f.InsertAfter(kids[0], kids[0]), tree.ErrHasParent)
		assert.ErrorIs(t, f.InsertBefore(kids[0], kids[1]), tree.ErrHasParent)
		assert.ErrorIs(t, f.InsertBefore(kids[0], kids[0]), tree.ErrHasParent)
		assert.ErrorIs(t, f.InsertAfter(top, loose), tree.ErrNoParent)
		assert.ErrorIs(t, f.InsertBefore(top, loose), tree.ErrNoParent)

		assert.NoError(t, f.Detach(top), "a root")
		assert.NoError(t, f.Move(kids[2], root), "where it is")
	})
}

func TestMoveGoesLast(t *testing.T) {
	p, f := newForest(t)
	root, kids := family(t, p, f, 4)
	for range 4 {
		first, _ := f.FirstChild(root)
		require.NoError(t, f.Move(first, root))
	}
	assert.Equal(t, kids, handles(t, f.Children(root)))
	other := add(t, p, 1)
	require.NoError(t, f.Move(kids[1], other))
	require.NoError(t, f.Move(other, kids[3]), "a root")
	assert.Equal(t, []handle{kids[0], kids[2], kids[3], other, kids[1]}, handles(t, f.Descendants(root)))
	assert.Equal(t, []handle{other, kids[3], root}, handles(t, f.Ancestors(kids[1])))
}

// TestRepairMends removes each subset of a family behind the forest's back, and checks
// what can be seen, which changes fail, and the result of Repair.
func TestRepairMends(t *testing.T) {
	for size := range 6 {
		for set := range 1 << size {
			p, f := newForest(t)
			root, kids := family(t, p, f, size)
			var alive []handle
			for i, h := range kids {
				if set>>i&1 == 0 {
					alive = append(alive, h)
				} else {
					require.True(t, p.Remove(h))
				}
			}
			if len(alive) < size {
				h := add(t, p, 99)
				if n := len(kids); set>>(n-1)&1 == 1 {
					unchanged(t, f, func() { assert.ErrorIs(t, f.Append(root, h), tree.ErrBroken) })
				}
				if set&1 == 1 {
					unchanged(t, f, func() { assert.ErrorIs(t, f.Prepend(root, h), tree.ErrBroken) })
				}
				for i, k := range kids {
					before, after := i > 0 && set>>(i-1)&1 == 1, set>>(i+1)&1 == 1
					if set>>i&1 == 0 && (before || after) {
						unchanged(t, f, func() {
							assert.ErrorIs(t, f.Detach(k), tree.ErrBroken)
							assert.ErrorIs(t, f.Move(k, h), tree.ErrBroken)
						})
					}
					if set>>i&1 == 0 && before {
						unchanged(t, f, func() { assert.ErrorIs(t, f.InsertBefore(k, h), tree.ErrBroken) })
					}
					if set>>i&1 == 0 && after {
						unchanged(t, f, func() { assert.ErrorIs(t, f.InsertAfter(k, h), tree.ErrBroken) })
					}
				}
			}
			n := f.Repair()
			assert.Equal(t, len(alive) < size, n > 0, "%d of %b", n, set)
			assert.Equal(t, alive, handles(t, f.Children(root)), "%b", set)
			assert.Zero(t, f.Repair())
		}
	}
}

// TestRepairSendsNoWalkBack: Repair puts the runs between dead siblings in the order of
// their slots. A walk that has passed one of them must not go back with it.
func TestRepairSendsNoWalkBack(t *testing.T) {
	p, f := newForest(t)
	root, k := add(t, p, 0), addN(t, p, 7)
	list := []handle{k[0], k[1], k[4], k[3], k[2], k[5], k[6]}
	for _, h := range list {
		require.NoError(t, f.Append(root, h))
	}
	var got []handle
	for h := range f.Children(root) {
		if got = append(got, h); h == k[2] {
			for _, dead := range []handle{k[1], k[3], k[5]} {
				require.True(t, p.Remove(dead))
			}
			require.Positive(t, f.Repair())
			require.Equal(t, []handle{k[0], k[2], k[4], k[6]}, handles(t, f.Children(root)), "k[2] and k[4] change places")
		}
	}
	assert.Equal(t, []handle{k[0], k[1], k[4], k[3], k[2]}, got, "k[2] was moved and its follower is dead: k[6] is omitted")
}

// TestGapWhoseSidesDoNotMeetIsBroken: a gap whose live sides do not name each other, as
// no operation leaves it, is not filled.
func TestGapWhoseSidesDoNotMeetIsBroken(t *testing.T) {
	const first, last, next, prev = 1, 2, 3, 4
	for name, try := range map[string]func(f *tree.Forest[node], root handle, k []handle, h handle) error{
		"last is another": func(f *tree.Forest[node], root handle, k []handle, h handle) error {
			tree.Scramble(f, root, last, k[1])
			return f.Append(root, h)
		},
		"last is another, Move": func(f *tree.Forest[node], root handle, k []handle, h handle) error {
			tree.Scramble(f, root, last, k[1])
			return f.Move(h, root)
		},
		"first is another": func(f *tree.Forest[node], root handle, k []handle, h handle) error {
			tree.Scramble(f, root, first, k[1])
			return f.Prepend(root, h)
		},
		"next is another": func(f *tree.Forest[node], root handle, k []handle, h handle) error {
			tree.Scramble(f, k[0], next, k[2])
			return f.InsertAfter(k[0], h)
		},
		"previous is another": func(f *tree.Forest[node], root handle, k []handle, h handle) error {
			tree.Scramble(f, k[1], prev, k[2])
			return f.InsertAfter(k[0], h)
		},
		"next is another, before": func(f *tree.Forest[node], root handle, k []handle, h handle) error {
			tree.Scramble(f, k[0], next, k[2])
			return f.InsertBefore(k[1], h)
		},
	} {
		p, f := newForest(t)
		root, kids := family(t, p, f, 3)
		assert.ErrorIs(t, try(f, root, kids, add(t, p, 9)), tree.ErrBroken, name)
	}
}

// TestRemoveReachesBehindADeadChild: Remove reaches the children on both sides of a dead
// one.
func TestRemoveReachesBehindADeadChild(t *testing.T) {
	for dead := range 5 {
		p, f := newForest(t)
		root, kids := family(t, p, f, 5)
		require.True(t, p.Remove(kids[dead]))
		assert.Equal(t, 5, f.Remove(root), "child %d is dead", dead)
		assert.Zero(t, p.Len(), "child %d is dead", dead)
	}
}

func TestOrphansBecomeRoots(t *testing.T) {
	p, f := newForest(t)
	root, kids := family(t, p, f, 3)
	below := addN(t, p, 3)
	for _, h := range below {
		require.NoError(t, f.Append(kids[1], h))
	}
	require.NoError(t, f.Move(kids[2], below[0]))
	require.True(t, p.Remove(kids[1]))

	loose := add(t, p, 1)
	for _, h := range below {
		_, ok := f.Parent(h)
		assert.False(t, ok)
		assert.Zero(t, f.Depth(h))
		unchanged(t, f, func() {
			assert.ErrorIs(t, f.Detach(h), tree.ErrBroken)
			assert.ErrorIs(t, f.Move(h, root), tree.ErrBroken)
			assert.ErrorIs(t, f.Append(root, h), tree.ErrBroken)
			assert.ErrorIs(t, f.InsertAfter(h, loose), tree.ErrBroken)
		})
	}
	require.True(t, p.Remove(loose))
	before := handles(t, f.Roots())
	assert.ElementsMatch(t, append([]handle{root}, below...), before, "they look like roots")
	assert.Positive(t, f.Repair())
	assert.ElementsMatch(t, before, handles(t, f.Roots()))
	for _, h := range below {
		assert.NoError(t, f.Append(root, h))
	}
	assert.Equal(t, []handle{kids[0], below[0], kids[2], below[1], below[2]}, handles(t, f.Descendants(root)))
}

// scrambled returns a forest of n nodes, of whose links up to n were changed at random.
func scrambled(t *testing.T, rnd *rand.Rand, n int) (*pool.Pool[node], *tree.Forest[node], []handle) {
	p, f := newForest(t)
	all := addN(t, p, n)
	for _, h := range all[1:] {
		_ = f.Append(all[rnd.IntN(n)], h)
	}
	for range 1 + rnd.IntN(n) {
		tree.Scramble(f, all[rnd.IntN(n)], rnd.IntN(5), append(all, 0)[rnd.IntN(n+1)])
	}
	return p, f, all
}

// TestScrambledLinksDoNoHarm: with links that no operation leaves, a walk ends, changes
// return, and Repair makes a forest of them.
func TestScrambledLinksDoNoHarm(t *testing.T) {
	rnd := newRand(t)
	for range long(1500) {
		p, f, all := scrambled(t, rnd, 12)
		quiet := func() {}
		if rnd.IntN(2) == 0 {
			quiet = tree.Busy(f)
		}
		for _, h := range all {
			for _, w := range allWalks {
				if n := len(handles(t, w.loop(f, h))); n > 12 {
					t.Fatalf("%s of %v yields %d nodes", w.name, h, n)
				}
			}
			if n := f.Depth(h); n > 3*12 {
				t.Fatalf("%v has depth %d", h, n)
			}
			handles(t, f.Ancestors(h))
		}
		quiet()
		if rnd.IntN(2) == 0 {
			for range 5 {
				a, b := all[rnd.IntN(12)], all[rnd.IntN(12)]
				for _, err := range []error{f.Move(a, b), f.Append(a, b), f.Detach(b), f.InsertAfter(a, b)} {
					if err != nil {
						require.NotErrorIs(t, err, tree.ErrStale)
					}
				}
			}
		}
		before := tree.Image(f)
		n := f.Repair()
		changed := 0
		for h, links := range tree.Image(f) {
			for i := range links {
				if links[i] != before[h][i] {
					changed++
				}
			}
		}
		require.Equal(t, changed, n, "links mended, of %v", before)
		require.Zero(t, f.Repair(), "a second time")
		sum := 0
		for h := range f.Roots() {
			sum += 1 + len(handles(t, f.Descendants(h)))
		}
		require.Equal(t, 12, sum, "nodes below roots, after %v", before)
		for h, links := range tree.Image(f) {
			if was := before[h][0]; links[0] != was {
				require.Zero(t, links[0], "%v has another parent", h)
			}
		}
		h := all[rnd.IntN(12)]
		want := 1 + len(handles(t, f.Descendants(h)))
		require.Equal(t, want, f.Remove(h))
		require.Equal(t, 12-want, p.Len())
	}
}

func TestRemoveOfScrambledLinksEnds(t *testing.T) {
	rnd := newRand(t)
	for range long(1000) {
		p, f, all := scrambled(t, rnd, 10)
		n := f.Remove(all[0])
		require.Equal(t, 10-p.Len(), n)
	}
}

func TestTwoForestsOverOnePool(t *testing.T) {
	p, f := newForest(t)
	g := tree.New(p, func(n *node) *tree.Links[node] { return &n.Other })
	hs := addN(t, p, 4)
	for i := range 3 {
		require.NoError(t, f.Append(hs[i], hs[i+1]))
		require.NoError(t, g.Append(hs[3-i], hs[2-i]))
	}
	assert.Equal(t, hs[1:], handles(t, f.Descendants(hs[0])))
	assert.Equal(t, []handle{hs[2], hs[1], hs[0]}, handles(t, g.Descendants(hs[3])))
	require.NoError(t, f.Detach(hs[2]))
	assert.Equal(t, 3, g.Depth(hs[0]))

	assert.Equal(t, 2, f.Remove(hs[0]))
	assert.Equal(t, []handle{hs[2]}, handles(t, g.Descendants(hs[3])), "behind the other forest's back")
	assert.Equal(t, 2, g.Repair(), "a first and a last child were gone")
	assert.Zero(t, f.Repair())
}

// TestForestsOneAfterTheOther: a Forest that replaces another one sees the links made by
// it.
func TestForestsOneAfterTheOther(t *testing.T) {
	p, f := newForest(t)
	root, kids := family(t, p, f, 5)
	again := tree.New(p, linksOf)
	assert.Equal(t, kids, handles(t, again.Children(root)))
	require.NoError(t, again.Move(kids[0], root))
	assert.Equal(t, append(slices.Clone(kids[1:]), kids[0]), handles(t, tree.New(p, linksOf).Children(root)))
}

func TestDeepAndWide(t *testing.T) {
	n := long(300_000)
	p := pool.Must[node](nil)
	f := tree.New(p, linksOf)
	chain := addN(t, p, n)
	for i := range n - 1 { // from below, so that Append need not climb
		if err := f.Append(chain[n-2-i], chain[n-1-i]); err != nil {
			t.Fatal(err)
		}
	}
	at := n
	for _, loop := range []iter.Seq2[handle, *node]{f.PostOrder(chain[0]), f.DescendantsBackward(chain[0])} {
		at = n
		for h := range loop {
			at--
			if h != chain[at] {
				t.Fatalf("%d before the end %v is yielded, want %v", n-at, h, chain[at])
			}
		}
		assert.Equal(t, 1, at)
	}
	at = 0
	for h := range f.Descendants(chain[0]) {
		at++
		if h != chain[at] {
			t.Fatalf("step %d of %d yields %v, want %v", at, n, h, chain[at])
		}
	}
	assert.Equal(t, n-1, at)
	assert.Equal(t, n-1, f.Depth(chain[n-1]))
	for range f.Ancestors(chain[n-1]) {
		at--
	}
	assert.Zero(t, at)
	assert.ErrorIs(t, f.Move(chain[0], chain[n-1]), tree.ErrCycle)
	assert.Zero(t, f.Repair())

	for _, h := range chain[1:] { // now flat
		if err := f.Move(h, chain[0]); err != nil {
			t.Fatal(err)
		}
	}
	for h := range f.Children(chain[0]) {
		at++
		if h != chain[at] {
			t.Fatalf("step %d of %d yields %v, want %v", at, n, h, chain[at])
		}
	}
	assert.Equal(t, n-1, at)
	assert.Equal(t, n, f.Remove(chain[0]))
	assert.Zero(t, p.Len())
}

func TestMisusePanics(t *testing.T) {
	p, _ := newForest(t)
	h := add(t, p, 1)
	assert.PanicsWithValue(t, tree.ErrTexts.NilPool, func() { tree.New[node](nil, linksOf) })
	assert.PanicsWithValue(t, tree.ErrTexts.NilLinks, func() { tree.New(p, nil) })
	assert.PanicsWithValue(t, tree.ErrTexts.NilEnter, func() { tree.New(p, linksOf).DescendantsFunc(h, nil) })

	var zero tree.Forest[node]
	none := tree.New(p, func(*node) *tree.Links[node] { return nil })
	for text, f := range map[string]*tree.Forest[node]{tree.ErrTexts.Zero: &zero, tree.ErrTexts.NoLinks: none} {
		for range 2 { // the first panic must not leave the lock held
			assert.PanicsWithValue(t, text, func() { _ = f.Append(h, h) })
			assert.PanicsWithValue(t, text, func() { _ = f.Detach(h) })
			assert.PanicsWithValue(t, text, func() { _ = f.Move(h, h) })
			assert.PanicsWithValue(t, text, func() { f.Remove(h) })
			assert.PanicsWithValue(t, text, func() { f.Repair() })
			assert.PanicsWithValue(t, text, func() { f.Depth(h) })
			assert.PanicsWithValue(t, text, func() { f.Parent(h) })
			for _, w := range allWalks {
				assert.PanicsWithValue(t, text, func() { handles(t, w.loop(f, h)) })
			}
			assert.PanicsWithValue(t, text, func() { handles(t, f.Ancestors(h)) })
			assert.PanicsWithValue(t, text, func() { handles(t, f.Roots()) })
		}
	}
	assert.Zero(t, p.Stats().Pinned)
}

// TestLoopsUnpin: a body that panics, or a loop that is left, unpins at once.
func TestLoopsUnpin(t *testing.T) {
	p, f := newForest(t)
	root, kids := family(t, p, f, 3)
	for _, loop := range []func(){
		func() {
			for range f.Children(root) {
				break
			}
		},
		func() {
			for range f.Descendants(root) {
				panic("left")
			}
		},
		func() {
			for range f.PostOrder(root) {
				panic("left")
			}
		},
		func() {
			for range f.DescendantsBackward(root) {
				break
			}
		},
		func() {
			for range f.DescendantsFunc(root, func(handle, *node) bool { panic("asked") }) {
			}
		},
		func() {
			for range f.Ancestors(kids[0]) {
				panic("left")
			}
		},
		func() {
			for range f.Roots() {
				panic("left")
			}
		},
	} {
		func() {
			defer func() { _ = recover() }()
			loop()
		}()
		assert.Zero(t, p.Stats().Pinned)
	}
}

func TestNothingAllocates(t *testing.T) {
	if testkit.Watched {
		t.Skip("pools allocate records")
	}
	p, f := newForest(t)
	root, kids := family(t, p, f, 20)
	n := testing.AllocsPerRun(100, func() {
		for range f.Children(root) {
		}
		for range f.ChildrenBackward(root) {
		}
		for range f.Descendants(root) {
		}
		for range f.DescendantsBackward(root) {
		}
		for range f.PostOrder(root) {
		}
		for range f.DescendantsFunc(root, func(_ handle, n *node) bool { return n.ID != 3 }) {
		}
		for range f.Ancestors(kids[3]) {
		}
		f.Depth(kids[0])
		f.Parent(kids[0])
	})
	assert.Zero(t, n)
	n = testing.AllocsPerRun(100, func() {
		_ = f.Move(kids[0], kids[1])
		_ = f.Detach(kids[0])
		_ = f.Append(root, kids[0])
		_ = f.Detach(kids[0])
		_ = f.InsertAfter(kids[1], kids[0])
		_ = f.Detach(kids[0])
		_ = f.InsertBefore(kids[1], kids[0])
	})
	assert.Zero(t, n, "changes")
}
