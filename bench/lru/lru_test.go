package lru_test

import (
	"math/rand/v2"
	"testing"

	golru "github.com/hashicorp/golang-lru/v2"
	"github.com/stretchr/testify/require"

	"coatcheck/bench/lru"
)

func TestSameAsGolangLRU(t *testing.T) {
	for _, size := range []int{1, 2, 3, 100} {
		ours, err := lru.New[int, int](size)
		require.NoError(t, err)
		theirs, err := golru.New[int, int](size)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(uint64(size), 0))
		for i := range 20_000 {
			key := r.IntN(2*size + 1)
			switch r.IntN(4) {
			case 0, 1:
				require.Equal(t, theirs.Add(key, i), ours.Add(key, i), "Add(%d)", key)
			case 2, 3:
				want, wanted := theirs.Get(key)
				got, ok := ours.Get(key)
				require.Equal(t, wanted, ok, "Get(%d)", key)
				require.Equal(t, want, got, "Get(%d)", key)
			}
			require.Equal(t, theirs.Len(), ours.Len())
			if i%50 == 0 {
				require.Equal(t, theirs.Keys(), ours.Keys())
			}
		}
	}
}

func TestSizeBelowOneIsRefused(t *testing.T) {
	_, err := lru.New[int, int](0)
	require.Error(t, err)
}
