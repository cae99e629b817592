//go:build !race

package contract_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/command"
	"coatcheck/pool/dense"
	"coatcheck/pool/poolhttp"
	"coatcheck/pool/table"
	"coatcheck/pool/tree"
)

type (
	record struct{ X float64 }
	node   struct{ Links tree.Links[node] }
)

// Programs keep these numbers and texts in files, and tell errors apart by what they wrap.
func TestValues(t *testing.T) {
	h := pool.Handle[int](7<<32 | 5)
	require.Equal(t, [2]uint32{5, 7}, [2]uint32{h.Index(), h.Generation()})
	require.Equal(t, "5@7", h.String())
	require.Equal(t, "none", pool.Handle[int](0).String())
	require.True(t, pool.Handle[int](0).IsZero())
	require.Equal(t, [2]pool.Reuse{0, 1}, [2]pool.Reuse{pool.LIFO, pool.FIFO})
	require.ErrorIs(t, pool.ErrStalled, pool.ErrFull)
	require.ErrorIs(t, pool.ErrExhausted, pool.ErrFull)
}

// Programs compile without the types of the parameters: the compiler must find them, in their order.
func TestTypesAreInferred(t *testing.T) {
	p, err := pool.New(&pool.Options[int]{})
	require.NoError(t, err)
	byHandle, err := table.ForHandles[int, record](p, table.AoS)
	require.NoError(t, err)
	require.Zero(t, table.Column(byHandle, func(r *record) *float64 { return &r.X }).Len())
	require.Equal(t, table.Index(-1), table.None)
	require.Equal(t, [2]table.Layout{0, 1}, [2]table.Layout{table.SoA, table.AoS})

	inserted, removed := command.Apply(command.New(p), command.New(p))
	require.Zero(t, inserted+removed)
	require.Zero(t, tree.New(pool.Must[node](nil), func(n *node) *tree.Links[node] { return &n.Links }).Repair())
	require.NotNil(t, dense.Must(&dense.Options[int]{}))
	poolhttp.Register("contract", p)
}
