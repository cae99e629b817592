//go:build !race

package tree_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// TestRemoveTellsOfEachNode: Remove and RemoveLeaf call OnRemove once for each node, children before their
// parent, and go on with the rest where one panicked or exited.
func TestRemoveTellsOfEachNode(t *testing.T) {
	for _, every := range []int{0, 3, 1} { // so many calls make one fail
		calls := 0
		told := map[handle]int{}
		var order []handle
		p := pool.Must(&pool.Options[node]{Origin: 1, Shards: 1, OnRemove: func(h handle, n *node) {
			require.Equal(t, h, n.Self)
			told[h]++
			order = append(order, h)
			if calls++; every > 0 && calls%every == 0 {
				if calls%2 == 0 {
					runtime.Goexit()
				}
				panic("meant")
			}
		}})
		f := tree.New(p, linksOf)
		root, kids := family(t, p, f, 5)
		parent := map[handle]handle{}
		for _, h := range kids {
			parent[h] = root
			for _, c := range addBelow(t, p, f, h, 4) {
				parent[c] = h
			}
		}
		other := add(t, p, 100)
		leaf := kids[4]
		first, ok := f.FirstChild(leaf)
		require.True(t, ok)
		testkit.Apart(func() { _ = f.RemoveLeaf(first) })
		require.Equal(t, 1, told[first], "RemoveLeaf")
		require.False(t, p.Contains(first))
		for p.Contains(root) {
			before := len(order)
			testkit.Apart(func() { f.Remove(root) })
			require.Greater(t, len(order), before)
		}
		require.Len(t, order, 26, "one call in %d fails", every)
		gone := map[handle]bool{}
		for _, h := range order {
			require.Equal(t, 1, told[h], "calls for %v", h)
			require.False(t, gone[parent[h]], "%v comes after its parent", h)
			gone[h] = true
		}
		require.True(t, p.Contains(other))
	}
}

// TestRemoveThatFailsLeavesLists: where an OnRemove panics, each node that is left has its first and its last child,
// or none at all and can be removed as a leaf.
func TestRemoveThatFailsLeavesLists(t *testing.T) {
	const n = 13
	for fails := range n {
		calls := 0
		p := pool.Must(&pool.Options[node]{Origin: 1, Shards: 1, OnRemove: func(handle, *node) {
			if calls++; calls == fails+1 {
				panic("meant")
			}
		}})
		f := tree.New(p, linksOf)
		root, kids := family(t, p, f, 3)
		for _, h := range kids {
			addBelow(t, p, f, h, 3)
		}
		require.Equal(t, "meant", testkit.Recovered(func() { f.Remove(root) }))
		require.Equal(t, n-fails-1, p.Len())
		var leaves []handle
		for h := range p.All() {
			_, hasFirst := f.FirstChild(h)
			_, hasLast := f.LastChild(h)
			require.Equal(t, hasFirst, hasLast, "%v, after %d removals", h, fails+1)
			if !hasFirst {
				leaves = append(leaves, h)
			}
		}
		for _, h := range leaves {
			require.NoError(t, f.RemoveLeaf(h), "%v, after %d removals", h, fails+1)
		}
		f.Remove(root)
		require.Zero(t, p.Len())
	}
}
