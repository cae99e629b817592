//go:build !race

package dense_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// TestBoundedStoreDoesNotEnd creates many more values than the first slots have lives for. Each
// slot that is exhausted is replaced, by one with the next index.
func TestBoundedStoreDoesNotEnd(t *testing.T) {
	for _, capacity := range []int{1, 3, 64} {
		for _, lives := range []int{1, 2, 5} {
			for _, unordered := range []bool{false, true} {
				t.Run(fmt.Sprintf("capacity=%d/lives=%d/unordered=%v", capacity, lives, unordered), func(t *testing.T) {
					testEndlessStore(t, lives, &dense.Options[int]{
						Capacity: capacity, Origin: uint32(testkit.LastGeneration) - 2*uint32(lives-1), Unordered: unordered,
					})
				})
			}
		}
	}
}

func testEndlessStore(t *testing.T, lives int, o *dense.Options[int]) {
	s := tiny(t, o)
	issued := map[handle]bool{}
	ended, last := 0, uint32(0)
	for round := 0; len(issued) < 6*o.Capacity*lives; round++ {
		for s.Len() < o.Capacity {
			for range o.Capacity - s.Len() {
				h := create(t, s, len(issued))
				require.Falsef(t, issued[h], "%v was issued before", h)
				issued[h] = true
				last = max(last, h.Index())
			}
			h, err := s.Create(0)
			require.ErrorIs(t, err, pool.ErrFull)
			require.Zero(t, h)
			s.Refresh()
		}
		require.Equal(t, o.Capacity, s.Cap())
		require.Less(t, int(last), o.Capacity+ended, "an index without need")
		for i, h := range s.Handles() {
			if (i+round)%3 == 0 || o.Capacity == 1 {
				require.True(t, s.Kill(h), "the value should be live")
				if h.Generation() == testkit.LastGeneration {
					ended++
				}
			}
		}
		s.Refresh()
		require.NoError(t, dense.Check(s))
	}
	s.Clear()
	for h := range issued {
		require.False(t, s.Alive(h) || s.Kill(h), "%v is alive again", h)
	}
	require.Greater(t, ended, 3*o.Capacity)
}

// TestStoreEndsWithItsIndexes: when there are no more indexes, an exhausted slot has no successor.
func TestStoreEndsWithItsIndexes(t *testing.T) {
	s, err := dense.NewShort(&dense.Options[int]{Capacity: 3, Origin: testkit.LastGeneration}, 5)
	require.NoError(t, err)
	for _, fit := range []int{3, 2, 0} {
		for i := range fit {
			create(t, s, i)
		}
		_, err := s.Create(0)
		require.ErrorIs(t, err, pool.ErrFull)
		if fit == 0 {
			require.ErrorIs(t, err, pool.ErrExhausted)
			require.EqualError(t, err, "dense: full: every slot has used up its generations; Store[int]; slots: 5")
		} else {
			require.NotErrorIs(t, err, pool.ErrExhausted)
		}
		require.NoError(t, dense.Check(s))
		s.Clear()
		require.NoError(t, dense.Check(s))
	}
}
