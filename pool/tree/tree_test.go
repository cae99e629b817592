package tree_test

import (
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// TestOperationsMatchModel draws most of what a Forest can do. Here is what it does not
// reach: links that no operation leaves, depth, several forests,
// misuse.

// TestRepairSendsNoWalkBack: Repair puts the runs between dead siblings in the order of
// their slots. A walk that reads the list after that passes over what was moved, since it
// stood in another order when the walk began.
func TestRepairSendsNoWalkBack(t *testing.T) {
	p, f := newForest(t)
	top, k := add(t, p, 0), addN(t, p, 9)
	kids := addBelow(t, p, f, top, 2)
	list := []handle{k[0], k[1], k[6], k[5], k[4], k[3], k[2], k[7], k[8]}
	for _, h := range list {
		require.NoError(t, f.Append(kids[1], h))
	}
	var got []handle
	for h := range f.Descendants(top) {
		if got = append(got, h); h == kids[0] {
			require.Equal(t, 3, p.RemoveBatch([]handle{k[1], k[4], k[7]}))
			require.Positive(t, f.Repair())
			require.Equal(t, []handle{k[0], k[3], k[2], k[6], k[5], k[8]}, handles(t, f.Children(kids[1])), "two pairs change places")
		}
	}
	assert.Equal(t, []handle{kids[0], kids[1], k[0], k[8]}, got)
}

// TestGapWhoseSidesDoNotMeetIsBroken: a gap whose live sides do not name each other, as
// no operation leaves it, is not filled.
func TestGapWhoseSidesDoNotMeetIsBroken(t *testing.T) {
	const first, last, next, prev = 1, 2, 3, 4
	// Of a root with the children 1, 2 and 3, a link of one node, the root being 0, leads to
	// another child. Node 4 is another root's child, the others are roots, and 7 is none.
	for name, c := range map[string]struct {
		of, link, to int
		try          func(f *tree.Forest[node], k []handle) error
	}{
		"last is another":         {0, last, 2, func(f *tree.Forest[node], k []handle) error { return f.Append(k[0], k[5]) }},
		"last is another, Move":   {0, last, 2, func(f *tree.Forest[node], k []handle) error { return f.Move(k[0], k[5]) }},
		"last is what moves":      {0, last, 4, func(f *tree.Forest[node], k []handle) error { return f.Move(k[0], k[4]) }},
		"last is none":            {0, last, 7, func(f *tree.Forest[node], k []handle) error { return f.Append(k[0], k[5]) }},
		"first is none":           {0, first, 7, func(f *tree.Forest[node], k []handle) error { return f.Prepend(k[0], k[5]) }},
		"first is another":        {0, first, 2, func(f *tree.Forest[node], k []handle) error { return f.Prepend(k[0], k[5]) }},
		"next is another":         {1, next, 3, func(f *tree.Forest[node], k []handle) error { return f.InsertAfter(k[1], k[5]) }},
		"next is another, Before": {2, prev, 3, func(f *tree.Forest[node], k []handle) error { return f.InsertBefore(k[2], k[5]) }},
		"previous is another":     {2, prev, 3, func(f *tree.Forest[node], k []handle) error { return f.InsertAfter(k[1], k[5]) }},
	} {
		p, f := newForest(t)
		k := append(addN(t, p, 7), 0)
		for _, h := range k[1:4] {
			require.NoError(t, f.Append(k[0], h))
		}
		require.NoError(t, f.Append(k[6], k[4]))
		tree.Scramble(f, k[c.of], c.link, k[c.to])
		before := tree.Image(f)
		assert.ErrorIs(t, c.try(f, k), tree.ErrBroken, name)
		assert.Equal(t, before, tree.Image(f), name)
		assert.Positive(t, f.Repair(), name)
		assert.NoError(t, c.try(f, k), name)
	}
}

// scrambled returns a forest of n nodes, of whose links up to n were changed at random.
func scrambled(t *testing.T, rnd *rand.Rand, n int) (*pool.Pool[node], *tree.Forest[node], []handle) {
	p, f := newForest(t)
	all := addN(t, p, n)
	for _, i := range rnd.Perm(n - 1) {
		_ = f.Append(all[rnd.IntN(n)], all[1+i])
	}
	for range 1 + rnd.IntN(n) {
		tree.Scramble(f, all[rnd.IntN(n)], rnd.IntN(5), append(all, 0)[rnd.IntN(n+1)])
	}
	return p, f, all
}

// TestScrambledLinksDoNoHarm: with links that no operation leaves, a walk ends, changes
// return, Repair makes a forest of them, and Remove ends.
func TestScrambledLinksDoNoHarm(t *testing.T) {
	rnd := testkit.Rand(t)
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
			for _, nb := range neighbours {
				if to, ok := nb.find(f, h); ok != p.Contains(to) {
					t.Fatalf("%s of %v is %v, %v", nb.name, h, to, ok)
				}
			}
		}
		quiet()
		if rnd.IntN(2) == 0 {
			for range 5 {
				a, b := all[rnd.IntN(12)], all[rnd.IntN(12)]
				for _, err := range []error{f.Move(b, a), f.Append(a, b), f.Detach(b), f.InsertAfter(a, b), f.Detach(b), f.InsertBefore(a, b)} {
					if err != nil {
						require.NotErrorIs(t, err, tree.ErrStale)
					}
				}
			}
		}
		if rnd.IntN(4) == 0 {
			n := f.Remove(all[0])
			require.Equal(t, 12-p.Len(), n)
			continue
		}
		before := tree.Image(f)
		n := f.Repair()
		require.Equal(t, differences(before, tree.Image(f)), n, "links changed, of %v", before)
		assertForest(t, f, 12)
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

// differences returns how many links of two images differ.
func differences(before, after map[handle][5]handle) (n int) {
	for h, links := range after {
		for i := range links {
			if links[i] != before[h][i] {
				n++
			}
		}
	}
	return n
}

// TestRepairJoinsChainsThatDisagree: a chain of siblings to which no list leads begins where the link of the one
// before leads past it.
func TestRepairJoinsChainsThatDisagree(t *testing.T) {
	const first, last, next = 1, 2, 3
	p, f := newForest(t)
	k := addN(t, p, 5)
	for _, i := range []int{2, 3, 1, 4} {
		require.NoError(t, f.Append(k[0], k[i]))
	}
	tree.Scramble(f, k[0], first, 0)
	tree.Scramble(f, k[0], last, 0)
	tree.Scramble(f, k[3], next, k[4]) // past k[1], which Repair finds first
	require.Positive(t, f.Repair())
	assertForest(t, f, 5)
	assert.Equal(t, []handle{k[1], k[4], k[2], k[3]}, handles(t, f.Children(k[0])))
}

// TestRepairKeepsTheOrderOfRuns: siblings between two dead ones stay in their order, whatever slots they have.
func TestRepairKeepsTheOrderOfRuns(t *testing.T) {
	rnd := testkit.Rand(t)
	for n := range 9 {
		p, f := newForest(t)
		k := addN(t, p, n+5)
		top, run := k[0], k[5:]
		rnd.Shuffle(n, func(i, j int) { run[i], run[j] = run[j], run[i] })
		if n == 8 {
			slices.SortFunc(run, func(a, b handle) int { return int(b.Index()) - int(a.Index()) })
		}
		for _, h := range slices.Concat(k[1:3], run, k[3:5]) {
			require.NoError(t, f.Append(top, h))
		}
		require.Equal(t, 2, p.RemoveBatch(k[2:4]))
		require.Positive(t, f.Repair())
		assertForest(t, f, n+3)
		assert.Equal(t, slices.Concat(k[1:2], run, k[4:5]), handles(t, f.Children(top)))
	}
}

// TestRepairEndsInARing: siblings to which no list leads, and whose links lead in a circle, become a list.
func TestRepairEndsInARing(t *testing.T) {
	const first, last, next, prev = 1, 2, 3, 4
	for n := 1; n < 6; n++ {
		p, f := newForest(t)
		top, hs := family(t, p, f, n)
		tree.Scramble(f, top, first, 0)
		tree.Scramble(f, top, last, 0)
		tree.Scramble(f, hs[0], prev, hs[n-1])
		tree.Scramble(f, hs[n-1], next, hs[0])
		testkit.Within(t, func() { f.Repair() })
		assertForest(t, f, n+1)
		assert.ElementsMatch(t, hs, handles(t, f.Children(top)))
	}
}

// TestWalkGoesOnBehindOneThatRepairMakesARoot: as where links from a file had made it its own descendant.
func TestWalkGoesOnBehindOneThatRepairMakesARoot(t *testing.T) {
	const parent, first, last = 0, 1, 2
	p, f := newForest(t)
	k := addN(t, p, 4)
	for _, i := range []int{2, 0, 3} {
		require.NoError(t, f.Append(k[1], k[i]))
	}
	tree.Scramble(f, k[1], parent, k[0])
	tree.Scramble(f, k[0], first, k[1])
	tree.Scramble(f, k[0], last, k[1])
	var got []handle
	for h := range f.Children(k[1]) {
		if got = append(got, h); h == k[0] {
			require.Positive(t, f.Repair())
			require.Equal(t, []handle{k[2], k[3]}, handles(t, f.Children(k[1])))
		}
	}
	assert.Equal(t, []handle{k[2], k[0], k[3]}, got)
}

// TestForestsWithTheSameField: each sees what the other does, in a walk too.
func TestForestsWithTheSameField(t *testing.T) {
	p, old := newForest(t)
	top, hs := family(t, p, old, 5)
	young := tree.New(p, linksOf)
	require.NoError(t, young.Move(top, hs[0]))
	assert.Equal(t, append(slices.Clone(hs[1:]), hs[0]), handles(t, old.Children(top)))
	var got []handle
	for h := range young.Children(top) {
		got = append(got, h)
		require.NoError(t, old.Move(top, h)) // to the end: the walk must not meet it again
	}
	assert.Equal(t, append(slices.Clone(hs[1:]), hs[0]), got)
}

// TestStampsOfAnotherPool: a program that copies all values of a pool into another one has
// copied their stamps too. They do not hide a node.
func TestStampsOfAnotherPool(t *testing.T) {
	p, f := newForest(t)
	top, hs := family(t, p, f, 3)
	tree.Stamp(f, hs[1], 1<<40+1)
	assert.Equal(t, hs, handles(t, f.Children(top)))
}

// TestPoolsWithForestsAreCollected: a Forest's lock goes with its pool.
func TestPoolsWithForestsAreCollected(t *testing.T) {
	before := tree.Seqlocks()
	testkit.Apart(func() {
		for range 10 {
			p, f := newForest(t)
			family(t, p, f, 2)
			tree.New(p, linksOf)
		}
		require.GreaterOrEqual(t, tree.Seqlocks(), 10)
	})
	testkit.Eventually(t, func() bool { runtime.GC(); return tree.Seqlocks() <= before }, "locks of pools are left")
}

// TestDeepAndWide: depth costs no stack, and width no search.
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
	down, up := chain[1:], slices.Clone(chain[:n-1])
	slices.Reverse(up)
	require.True(t, slices.Equal(down, handles(t, f.Descendants(chain[0]))), "both should yield the same handles")
	if !testkit.Watched {
		require.Less(t, testkit.Allocated(func() {
			for range f.Descendants(chain[0]) {
			}
		}), uint64(2*n), "bytes: it forgets lists that it need not come back to")
	}
	below := slices.Clone(down)
	slices.Reverse(below)
	require.True(t, slices.Equal(below, handles(t, f.PostOrder(chain[0]))), "both should yield the same handles")
	require.True(t, slices.Equal(up, handles(t, f.Ancestors(chain[n-1]))), "both should yield the same handles")
	assert.Equal(t, n-1, f.Depth(chain[n-1]))
	assert.ErrorIs(t, f.Move(chain[n-1], chain[0]), tree.ErrCycle)
	assert.Zero(t, f.Repair())

	for _, h := range down { // now flat
		if err := f.Move(chain[0], h); err != nil {
			t.Fatal(err)
		}
	}
	require.True(t, slices.Equal(down, handles(t, f.Children(chain[0]))), "both should yield the same handles")
	assert.Equal(t, n, f.Remove(chain[0]))
	assert.Zero(t, p.Len())
}

func TestMisusePanics(t *testing.T) {
	p, _ := newForest(t)
	h := add(t, p, 1)
	assert.PanicsWithValue(t, tree.ErrTexts.NilPool, func() { tree.New[node](nil, linksOf) })
	assert.PanicsWithValue(t, tree.ErrTexts.NilLinks, func() { tree.New(p, nil) })

	var zero tree.Forest[node]
	none := tree.New(p, func(*node) *tree.Links[node] { return nil })
	for text, f := range map[string]*tree.Forest[node]{tree.ErrTexts.Zero: &zero, tree.ErrTexts.NoLinks: none} {
		for range 2 { // the first panic must not leave the lock held
			assert.PanicsWithValue(t, text, func() { _ = f.Append(h, h) })
			assert.PanicsWithValue(t, text, func() { _ = f.Detach(h) })
			assert.PanicsWithValue(t, text, func() { _ = f.Move(h, h) })
			assert.PanicsWithValue(t, text, func() { f.Remove(h) })
			assert.PanicsWithValue(t, text, func() { _ = f.RemoveLeaf(h) })
			assert.PanicsWithValue(t, text, func() { f.Repair() })
			assert.PanicsWithValue(t, text, func() { f.Depth(h) })
			for _, nb := range neighbours {
				assert.PanicsWithValue(t, text, func() { nb.find(f, h) })
			}
			for _, w := range allWalks {
				assert.PanicsWithValue(t, text, func() { handles(t, w.loop(f, h)) })
			}
			assert.PanicsWithValue(t, text, func() { handles(t, f.Ancestors(h)) })
			assert.PanicsWithValue(t, text, func() { handles(t, f.Roots()) })
		}
	}
	assert.Zero(t, p.Stats().Pinned)
}

// TestChangesHoldWhatTheyLookAt: as long as a change looks at links, it has the lock and one pin, and then neither.
func TestChangesHoldWhatTheyLookAt(t *testing.T) {
	for name, change := range map[string]func(f *tree.Forest[node], top, h handle){
		"Append":     func(f *tree.Forest[node], top, h handle) { _ = f.Append(h, top) },
		"Detach":     func(f *tree.Forest[node], _, h handle) { _ = f.Detach(h) },
		"Remove":     func(f *tree.Forest[node], _, h handle) { f.Remove(h) },
		"RemoveLeaf": func(f *tree.Forest[node], _, h handle) { _ = f.RemoveLeaf(h) },
		"Repair":     func(f *tree.Forest[node], _, _ handle) { f.Repair() },
	} {
		p, f := newForest(t)
		top, kids := family(t, p, f, 3)
		addBelow(t, p, f, kids[1], 2)
		for _, h := range kids {
			looks := 0
			tree.Outside(f, func(n *node) *tree.Links[node] {
				looks++
				assert.True(t, tree.Locked(f), name)
				assert.Equal(t, 1, p.Stats().Pinned, name)
				assert.Equal(t, name == "Repair", tree.Changing(f), "%s: nothing may panic where links disagree", name)
				return &n.Links
			})
			change(f, top, h)
			assert.Positive(t, looks, name)
			assert.False(t, tree.Locked(f), name)
			assert.Zero(t, p.Stats().Pinned, name)
		}
	}
}

// TestLoopsUnpin: a loop is pinned, and a body that panics, or a loop that is left, unpins at once.
func TestLoopsUnpin(t *testing.T) {
	p, f := newForest(t)
	root, kids := family(t, p, f, 3)
	loops := []iter.Seq2[handle, *node]{f.Ancestors(kids[0]), f.Roots()}
	for _, w := range allWalks {
		loops = append(loops, w.loop(f, root))
	}
	for _, loop := range loops {
		for range loop {
			assert.Equal(t, 1, p.Stats().Pinned)
			break
		}
		assert.Zero(t, p.Stats().Pinned)
		assert.Equal(t, "left", testkit.Recovered(func() {
			for range loop {
				panic("left")
			}
		}))
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
		for range f.Descendants(root) {
		}
		for range f.Ancestors(kids[3]) {
		}
		for range f.PostOrder(root) {
		}
		f.Depth(kids[0])
		for _, nb := range neighbours {
			nb.find(f, kids[0])
		}
	})
	assert.Zero(t, n)
	n = testing.AllocsPerRun(100, func() {
		_ = f.Move(kids[1], kids[0])
		_ = f.Detach(kids[0])
		_ = f.Append(root, kids[0])
		_ = f.Detach(kids[0])
		_ = f.InsertAfter(kids[1], kids[0])
		_ = f.Detach(kids[0])
		_ = f.InsertBefore(kids[1], kids[0])
	})
	assert.Zero(t, n, "changes")
	wide, _ := family(t, p, f, 96)
	assert.EqualValues(t, 1, testing.AllocsPerRun(100, func() {
		for range f.Children(wide) {
		}
	}), "the first 32 lie in the loop, and there is room for 64 more")
}

// TestRepairRemembersOnePath: what Repair remembers of its way up from one node is gone at the next. Otherwise the work
// would grow with the square of the nodes.
func TestRepairRemembersOnePath(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	const n = 20_000
	p, f := newForest(t)
	addN(t, p, n)
	require.Less(t, testkit.Allocated(func() { f.Repair() }), uint64(4*n), "bytes")
}
