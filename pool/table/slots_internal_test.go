//go:build !race

package table

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// TestSlotIndexIsSparse: the index of handles takes memory for the slots that have
// records, not for the highest index: 4 KiB for 512 slots, and a word.
func TestSlotIndexIsSparse(t *testing.T) {
	x := &slots[int]{}
	far := pool.Handle[int](7<<32 | 1<<28)
	took := testkit.Allocated(func() {
		for _, h := range []pool.Handle[int]{far, 7 << 32, far - 1} {
			*x.provide(h) = occupant{h.Generation(), h.Index()}
		}
	})
	require.EqualValues(t, uint32(far), x.held(far))
	require.Nil(t, x.occupantOf(1<<27))
	require.Less(t, took, uint64(16<<20), "2 GiB for all slots up to there")
}

// TestClaimOfSlotTwice claims two incarnations of one slot in one batch, the first of
// which dies between the claims: the batch is refused and undone.
func TestClaimOfSlotTwice(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Origin: 1, Capacity: 1})
	x := &slots[int]{pool: p}
	again := func(old pool.Handle[int]) pool.Handle[int] {
		p.Remove(old)
		h, err := p.Insert(0)
		require.NoError(t, err)
		require.Equal(t, uint32(0), h.Index())
		return h
	}
	a := again(0)
	require.EqualValues(t, 0, x.claim(a, 0, nil))
	b := again(a)
	require.Equal(t, None, x.claim(b, 1, nil), "%v claims the slot that %v has claimed in the same batch", b, a)
	x.unclaim(a, nil)
	require.Equal(t, None, x.find(b))

	// The same over a dead occupant whose row is to be replaced.
	keys := []pool.Handle[int]{b}
	require.EqualValues(t, 0, x.claim(b, 0, nil))
	c := again(b)
	require.EqualValues(t, 0, x.claim(c, 1, keys))
	d := again(c)
	require.Equal(t, None, x.claim(d, 1, keys), "%v claims the slot that %v has claimed in the same batch", d, c)
	x.unclaim(c, keys)
	require.Equal(t, b.Generation(), x.occupantOf(b).generation, "the dead occupant %v is back", b)
}
