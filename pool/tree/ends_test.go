//go:build !race

package tree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// A child at the end of a list that was removed behind the forest's back does not keep others from
// being linked there. One in the middle, with another at the end, hides those between them.
func TestLinkingClosesTheEndOfAList(t *testing.T) {
	type links struct{ One, Other tree.Links[links] }
	for _, gone := range [][]int{{3}, {2, 3}, {0}, {0, 1}, {0, 3}, {0, 1, 2, 3}, {1, 3}} {
		for name, link := range map[string]func(f *tree.Forest[links], parent, h pool.Handle[links]) error{
			"Append":  (*tree.Forest[links]).Append,
			"Move":    (*tree.Forest[links]).Move,
			"Prepend": (*tree.Forest[links]).Prepend,
		} {
			p := pool.Must[links](nil)
			f := tree.New(p, func(l *links) *tree.Links[links] { return &l.One })
			other := tree.New(p, func(l *links) *tree.Links[links] { return &l.Other })
			insert := func() pool.Handle[links] {
				h, err := p.InsertFunc(func(pool.Handle[links], *links) {})
				require.NoError(t, err)
				return h
			}
			top, h := insert(), insert()
			var kids []pool.Handle[links]
			for range 4 {
				kids = append(kids, insert())
				require.NoError(t, f.Append(top, kids[len(kids)-1]))
			}
			for i, k := range gone {
				if i%2 == 0 {
					require.True(t, p.Remove(kids[k]))
				} else {
					require.Equal(t, 1, other.Remove(kids[k]))
				}
			}
			back := name != "Prepend"
			err := link(f, top, h)
			if len(gone) > 1 && err != nil { // another gap hides some
				require.ErrorIs(t, err, tree.ErrBroken)
				require.Positive(t, f.Repair())
				err = link(f, top, h)
			}
			require.NoError(t, err, "%s after removals of %v", name, gone)
			if len(gone) == 1 && (gone[0] == 3) == back {
				require.Zero(t, f.Repair(), "nothing is left to repair")
			}
			f.Repair()
			var seen []pool.Handle[links]
			for k := range f.Children(top) {
				seen = append(seen, k)
			}
			require.Len(t, seen, 5-len(gone), "%s after removals of %v", name, gone)
			at := 0
			if back {
				at = len(seen) - 1
			}
			require.Equal(t, h, seen[at])
			require.Zero(t, f.Repair())
		}
	}
}
