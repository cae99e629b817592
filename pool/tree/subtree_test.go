package tree_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// TestWalkGoesOnBehindALostSubtree: when the subtree that it is in leaves, a walk
// continues with the sibling that followed the subtree, or behind the parent if that has
// left, too.
func TestWalkGoesOnBehindALostSubtree(t *testing.T) {
	const areas, objects, parts = 2, 8, 20
	takes := map[string]func(f *tree.Forest[node], attic handle, h handle){
		"Remove": func(f *tree.Forest[node], _ handle, h handle) { require.Equal(t, parts+1, f.Remove(h)) },
		"Move":   func(f *tree.Forest[node], attic handle, h handle) { require.NoError(t, f.Move(h, attic)) },
		"Detach": func(f *tree.Forest[node], _ handle, h handle) { require.NoError(t, f.Detach(h)) },
	}
	for name, take := range takes {
		for _, with := range []int{1, 2} { // the object that follows as well
			t.Run(name, func(t *testing.T) {
				p, f := newForest(t)
				root, attic := add(t, p, 0), add(t, p, 0)
				var all, tops []handle
				grow := func(parent handle) handle {
					h := add(t, p, 0)
					require.NoError(t, f.Append(parent, h))
					all = append(all, h)
					return h
				}
				for range areas {
					area := grow(root)
					for range objects {
						object := grow(area)
						tops = append(tops, object)
						for range parts {
							grow(object)
						}
					}
				}
				// It is at a part in the middle of the sixth object.
				at := 1 + 5*(parts+1) + parts/2
				want := slices.Clone(all[:at+1])
				if name != "Remove" { // a subtree that only moved is walked to its end first
					want = slices.Clone(all[:1+6*(parts+1)])
				}
				if with == 1 {
					want = append(want, all[1+6*(parts+1):]...)
				} else {
					want = append(want, all[1+objects*(parts+1):]...)
				}
				var seen []handle
				for h := range f.Descendants(root) {
					seen = append(seen, h)
					if h == all[at] {
						for _, gone := range tops[5 : 5+with] {
							take(f, attic, gone)
						}
					}
				}
				assert.Equal(t, want, seen)
			})
		}
	}
}

// TestWalkLosesMoreFarDown: when a subtree leaves below the levels that a walk keeps, the
// walk continues behind the last level kept. A single node costs nothing, with siblings
// behind it or without.
func TestWalkLosesMoreFarDown(t *testing.T) {
	const deep, last = 2 * tree.Levels, tree.Levels - 2
	for name, seconds := range map[string]int{"first": deep, "second": deep, "parent": last} {
		p, f := newForest(t)
		// Each node of a chain has a second child.
		chain, second := addN(t, p, deep+1), addN(t, p, deep)
		for i := range deep {
			require.NoError(t, f.Append(chain[i], chain[i+1]))
			require.NoError(t, f.Append(chain[i], second[i]))
		}
		at := map[string]handle{"first": chain[deep], "second": second[deep-1], "parent": chain[deep]}[name]
		gone := at
		if name == "parent" {
			gone = chain[deep-1]
		}
		var got []handle
		for h := range f.Descendants(chain[0]) {
			if got = append(got, h); h == at {
				f.Remove(gone)
			}
		}
		slices.Reverse(second)
		assert.Equal(t, slices.Concat(chain[1:], second[deep-seconds:]), got, name)
	}
}

// TestLoopsTakeAwayWhatTheyGet: a loop that removes each node that it is given visits all
// the others, even if the node that follows came there after the walk began.
func TestLoopsTakeAwayWhatTheyGet(t *testing.T) {
	for _, w := range allWalks {
		p, f := newForest(t)
		root, kids := family(t, p, f, 20)
		want := w.order(childrenOf(root, kids), root)
		var got []handle
		for h := range w.loop(f, root) {
			if next, ok := f.Next(h); ok && !w.back {
				require.NoError(t, f.InsertAfter(next, add(t, p, 0)))
			} else if prev, ok := f.Prev(h); ok && w.back {
				require.NoError(t, f.InsertBefore(prev, add(t, p, 0)))
			}
			got = append(got, h)
			require.Equal(t, 1, f.Remove(h))
		}
		assert.Equal(t, want, got, w.name)
	}
}

// TestLostWalkYieldsNothingTwice: a walk omits the siblings behind a node that left
// together with its follower. It does not restart if the follower was moved to the front
// of the list.
func TestLostWalkYieldsNothingTwice(t *testing.T) {
	for when := range 2 { // the follower moves while the walk is at either node below
		p, f := newForest(t)
		root, k := family(t, p, f, 4)
		below := addBelow(t, p, f, k[1], 2)
		var got []handle
		for h := range f.Descendants(root) {
			got = append(got, h)
			if h == below[when] {
				require.NoError(t, f.Detach(k[2]))
				require.NoError(t, f.Prepend(root, k[2]))
			}
			if h == below[1] {
				require.NoError(t, f.Detach(k[1]))
			}
		}
		assert.Equal(t, []handle{k[0], k[1], below[0], below[1]}, got, "k[3] is omitted")
	}
}

// TestWalkDoesNotGoBackToWhatRepairShows: Repair reveals what a dead sibling has hidden.
// A walk that has passed that place, and then loses its node, does not return to it.
func TestWalkDoesNotGoBackToWhatRepairShows(t *testing.T) {
	p, f := newForest(t)
	root, k := family(t, p, f, 4)
	below := addBelow(t, p, f, k[0], 4)
	require.True(t, p.Remove(below[2])) // and hides below[3]
	var got []handle
	for h := range f.Descendants(root) {
		if got = append(got, h); h == k[1] {
			require.Positive(t, f.Repair())
			require.Equal(t, []handle{below[0], below[1], below[3]}, handles(t, f.Children(k[0])))
			require.NoError(t, f.Detach(k[1]))
			require.NoError(t, f.Detach(k[2]))
		}
	}
	assert.Equal(t, []handle{k[0], below[0], below[1], k[1]}, got, "k[3] is omitted, and below[3] is not behind k[1]")
}

// TestForestAfterAnOldOne: a Forest that replaces one with no versions left sees
// everything.
func TestForestAfterAnOldOne(t *testing.T) {
	for _, left := range []uint64{0, 1, 3, 10} {
		p, old := newForest(t)
		top := add(t, p, 0)
		tree.Age(old, tree.Versions-1-left)
		hs := addN(t, p, 5)
		for _, h := range hs {
			require.NoError(t, old.Append(top, h))
			require.Contains(t, handles(t, old.Children(top)), h)
		}
		young := tree.New(p, linksOf)
		assert.Equalf(t, hs, handles(t, young.Children(top)), "%d changes before the end", left)
		require.NoError(t, young.Detach(hs[0]))
		assert.Equal(t, hs[1:], handles(t, young.Children(top)))
	}
}

// TestRemoveAfterAPanickingReset: a Reset that panics again and again during Remove
// leaves nothing that another Remove would not find.
func TestRemoveAfterAPanickingReset(t *testing.T) {
	var angry bool
	resets := 0
	p := pool.Must(&pool.Options[node]{Origin: 1, Shards: 1, Reset: func(n *node) {
		*n = node{}
		if resets++; angry && resets%5 == 0 {
			panic("reset")
		}
	}})
	f := tree.New(p, linksOf)
	garbage := addN(t, p, 3000)
	top := add(t, p, 0)
	addBelow(t, p, f, top, 3000)
	g := p.Pin()
	p.RemoveBatch(garbage)
	g.Unpin()
	angry = true
	panics, live := 0, p.Len()
	for p.Contains(top) {
		func() {
			defer func() {
				if recover() != nil {
					panics++
				}
			}()
			f.Remove(top)
		}()
		require.Less(t, p.Len(), live, "each call removes something")
		live = p.Len()
	}
	assert.Positive(t, panics)
	assert.Zero(t, p.Len(), "values below a node that was removed")
}

// TestMoveToATornListIsBroken: a node that is the last child of a list it does not stand
// in, as in a torn snapshot, cannot be moved to that list.
func TestMoveToATornListIsBroken(t *testing.T) {
	p, f := newForest(t)
	from, to, h := add(t, p, 1), add(t, p, 2), add(t, p, 3)
	require.NoError(t, f.Append(from, h))
	tree.Scramble(f, to, 2, h) // its last child
	before := tree.Image(f)
	require.ErrorIs(t, f.Move(h, to), tree.ErrBroken)
	require.Equal(t, before, tree.Image(f))
	f.Repair()
	require.NoError(t, f.Move(h, to))
	require.Equal(t, []handle{h}, handles(t, f.Children(to)))
}

// TestPostOrderRemovesATree: the body removes a tree from below, node by node, during the
// walk.
func TestPostOrderRemovesATree(t *testing.T) {
	p, f := newForest(t)
	root, kids := family(t, p, f, 4)
	for _, h := range kids {
		addBelow(t, p, f, h, 3)
	}
	n := 0
	for h := range f.PostOrder(root) {
		require.Equal(t, 1, f.Remove(h), "nothing is left below %v", h)
		n++
	}
	assert.Equal(t, 16, n)
	assert.Equal(t, 1, p.Len())
}

// TestPostOrderYieldsNothingThatHasLeft: a node that moves while a walk is below it has
// left its place when PostOrder returns to it, and is not yielded.
func TestPostOrderYieldsNothingThatHasLeft(t *testing.T) {
	p, f := newForest(t)
	root, kids := family(t, p, f, 2)
	below := addBelow(t, p, f, kids[0], 2)
	var got []handle
	for h := range f.PostOrder(root) {
		if got = append(got, h); h == below[0] {
			require.NoError(t, f.Move(kids[0], root))
		}
	}
	assert.Equal(t, []handle{below[0], below[1], kids[1]}, got)
}

// TestDescendantsFuncAsksAfterTheBody: enter is called once for each node yielded, after
// the body.
func TestDescendantsFuncAsksAfterTheBody(t *testing.T) {
	p, f := newForest(t)
	root, kids := family(t, p, f, 3)
	addBelow(t, p, f, kids[1], 2)
	var got, asked []handle
	for h := range f.DescendantsFunc(root, func(h handle, n *node) bool {
		require.Equal(t, h, n.Self)
		require.Equal(t, got[len(got)-1], h)
		asked = append(asked, h)
		return h != kids[1]
	}) {
		got = append(got, h)
	}
	assert.Equal(t, kids, got)
	assert.Equal(t, kids, asked)
}
