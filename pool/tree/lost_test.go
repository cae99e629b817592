package tree_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/pool/tree"
)

// Drawn walks and repairs meet these cases too seldom to find every mutant.

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

// TestRepairMakesAFamilyWhole removes each subset of a family behind the forest's back, and
// checks what can be seen, which changes fail, and the result of Repair.
func TestRepairMakesAFamilyWhole(t *testing.T) {
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

// unchanged requires that do changes no link.
func unchanged(t testing.TB, f *tree.Forest[node], do func()) {
	t.Helper()
	before := tree.Image(f)
	do()
	require.Equal(t, before, tree.Image(f), "links changed")
}
