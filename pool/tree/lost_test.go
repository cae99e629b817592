package tree_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/pool/tree"
)

// What drawn walks meet too seldom.

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
