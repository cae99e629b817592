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
