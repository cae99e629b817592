package tree_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// A walk goes on when the subtree in which it stands is taken away from under it,
// deeper in than it remembers: with the next child of the top. It catches a walk that
// ends there.
func TestWalkGoesOnBehindALostSubtree(t *testing.T) {
	const objects, parts = 20, 3 * tree.Trailed
	takes := map[string]func(f *tree.Forest[node], attic handle, h handle){
		"Remove": func(f *tree.Forest[node], _ handle, h handle) { require.Equal(t, parts+1, f.Remove(h)) },
		"Move":   func(f *tree.Forest[node], attic handle, h handle) { require.NoError(t, f.Move(h, attic)) },
		"Detach": func(f *tree.Forest[node], _ handle, h handle) { require.NoError(t, f.Detach(h)) },
	}
	for name, take := range takes {
		for _, with := range []int{1, 2} { // the object that follows as well: then the walk may end
			t.Run(name, func(t *testing.T) {
				p, f := newForest(t)
				root, attic := add(t, p, 0), add(t, p, 0)
				tops := addN(t, p, objects)
				for _, h := range tops {
					require.NoError(t, f.Append(root, h))
					for range parts {
						require.NoError(t, f.Append(h, add(t, p, 0)))
					}
				}
				var seen []handle
				for h := range f.Descendants(root) {
					seen = append(seen, h)
					if len(seen) == 5*(parts+1)+2*tree.Trailed {
						for _, gone := range tops[5 : 5+with] {
							take(f, attic, gone)
						}
					}
				}
				// What is removed ends at once; what is elsewhere now is walked to its end first.
				want := 5*(parts+1) + 2*tree.Trailed
				if name != "Remove" {
					want = 6 * (parts + 1)
				}
				if with == 1 {
					want += (objects - 6) * (parts + 1)
					assert.Subset(t, seen, tops)
				}
				assert.Equal(t, want, len(seen))
			})
		}
	}
}

// A Forest that follows one which has used its versions up sees everything.
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

// A Reset that panics again and again in the midst of Remove leaves nothing behind that
// another Remove would not find.
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
	for _, h := range addN(t, p, 3000) {
		require.NoError(t, f.Append(top, h))
	}
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

// What is last in a list that it does not stand in, as in a torn snapshot, is not moved
// there in name alone.
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
