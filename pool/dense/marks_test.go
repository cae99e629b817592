package dense

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

// markSizes are sizes of sets around each boundary between levels.
var markSizes = []int{0, 1, 2, 63, 64, 65, 127, 128, 4095, 4096, 4097, 64*64*3 + 5, 64*64*64 + 1}

// TestMarksMatchMap catches a level that misses a first bit, a walk that stops early, and
// a clear that forgets a level, and a visit to words without marks.
func TestMarksMatchMap(t *testing.T) {
	rnd := testkit.Rand(t)
	for _, n := range markSizes {
		m := makeMarks(n)
		for range 3 {
			require.Truef(t, m.empty(), "of %d, at first", n)
			want := map[int]bool{}
			for range min(n, 1+rnd.IntN(max(1, n/10))) {
				i := rnd.IntN(n)
				if m.add(i) == want[i] {
					t.Fatalf("adding %d of %d, which is there: %v", i, n, want[i])
				}
				want[i] = true
			}
			for _, i := range []int{0, n - 1} {
				if i >= 0 && i < n {
					require.Equal(t, !want[i], m.add(i))
					want[i] = true
				}
			}
			for i, word := range m.words {
				require.NotZerof(t, word, "word %d of %d is visited for nothing", i, n)
			}
			for i := range want {
				if rnd.IntN(4) == 0 {
					m.remove(i)
					delete(want, i)
				}
			}
			var got []int
			for i := range m.all {
				if !m.has(i) || !want[i] {
					t.Fatalf("%d of %d is there: %v, %v", i, n, m.has(i), want[i])
				}
				got = append(got, i)
			}
			require.Truef(t, slices.IsSorted(got), "of %d", n)
			require.Lenf(t, got, len(want), "of %d", n)
			m.clear()
			for i := range n {
				if m.has(i) {
					t.Fatalf("%d of %d after Clear", i, n)
				}
			}
		}
	}
}
