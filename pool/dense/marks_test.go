package dense_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool/dense"
)

// markSizes are sizes of sets around each boundary between levels.
var markSizes = []int{0, 1, 2, 63, 64, 65, 127, 128, 4095, 4096, 4097, 64*64*3 + 5, 64*64*64 + 1}

// TestMarksMatchMap catches a level that misses a first bit, a walk that stops early, and
// a clear that forgets a level.
func TestMarksMatchMap(t *testing.T) {
	rnd := testkit.Rand(t)
	for _, n := range markSizes {
		m := dense.MakeMarks(n)
		for range 3 {
			require.Truef(t, m.Empty(), "of %d, at first", n)
			want := map[int]bool{}
			for range min(n, 1+rnd.IntN(max(1, n/10))) {
				i := rnd.IntN(n)
				if m.Add(i) == want[i] {
					t.Fatalf("adding %d of %d, which is there: %v", i, n, want[i])
				}
				want[i] = true
			}
			for _, i := range []int{0, n - 1} {
				if i >= 0 && i < n {
					require.Equal(t, !want[i], m.Add(i))
					want[i] = true
				}
			}
			for i := range want {
				if rnd.IntN(4) == 0 {
					m.Remove(i)
					delete(want, i)
				}
			}
			var got []int
			for i := range m.All {
				if !m.Has(i) || !want[i] {
					t.Fatalf("%d of %d is there: %v, %v", i, n, m.Has(i), want[i])
				}
				got = append(got, i)
			}
			require.Truef(t, slices.IsSorted(got), "of %d", n)
			require.Lenf(t, got, len(want), "of %d", n)
			require.Equal(t, len(want), m.Count())
			m.Clear()
			for i := range n {
				if m.Has(i) {
					t.Fatalf("%d of %d after Clear", i, n)
				}
			}
		}
		m.Fill(n)
		require.Equalf(t, n, m.Count(), "full")
		m.Clear()
		require.True(t, m.Empty())
		require.Zero(t, m.Count())
	}
}

// TestMarksFillInPart fills part of a set, as Clear does.
func TestMarksFillInPart(t *testing.T) {
	for _, n := range markSizes {
		for _, k := range markSizes {
			if k <= n {
				m := dense.MakeMarks(n)
				m.Fill(k)
				got := 0
				for i := range m.All {
					if i != got {
						t.Fatalf("%d comes where %d should, of %d", i, got, n)
					}
					got++
				}
				require.Equalf(t, k, got, "of %d", n)
				m.Clear()
				require.True(t, m.Empty())
			}
		}
	}
}

// TestMarksAreVisitedOnly: finding a few marks among many positions visits few words.
func TestMarksAreVisitedOnly(t *testing.T) {
	m := dense.MakeMarks(1 << 20)
	for _, i := range []int{5, 6, 70, 1 << 19, 1<<20 - 1} {
		m.Add(i)
	}
	words := 0
	for _, word := range m.Words {
		require.NotZero(t, word)
		words++
	}
	require.Equal(t, 4, words)
}

// TestMarksAreAddedOnce: of the goroutines that add the same position at once, exactly
// one gets true, and no position is lost.
func TestMarksAreAddedOnce(t *testing.T) {
	const n, goroutines = 64 * 64 * 3, 4
	for range long(20) {
		m := dense.MakeMarks(n)
		var wg sync.WaitGroup
		var added atomic.Int64
		for g := range goroutines {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := range n {
					if g%2 == 1 {
						i = n - 1 - i
					}
					if i%3 != 0 && m.Add(i) {
						added.Inc()
					}
				}
			}()
		}
		wg.Wait()
		require.EqualValues(t, n*2/3, added.Load())
		require.Equal(t, n*2/3, m.Count())
	}
}
