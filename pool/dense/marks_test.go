package dense

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

// TestMarksMatchMap catches a first bit that is missed above, a loop that stops early, and
// a clear that forgets a word.
func TestMarksMatchMap(t *testing.T) {
	rnd := testkit.Rand(t)
	for _, n := range []int{0, 1, 2, 63, 64, 65, 4095, 4096, 4097, 64*64*3 + 5} {
		m := makeMarks(n)
		for range 3 {
			require.Truef(t, m.empty(), "of %d, at first", n)
			want := map[int]bool{}
			for try := range min(n, 2+rnd.IntN(max(1, n/10))) {
				i := rnd.IntN(n)
				if try < 2 {
					i = (n - 1) * try
				}
				if m.add(i) == want[i] {
					t.Fatalf("adding %d of %d, which is there: %v", i, n, want[i])
				}
				want[i] = true
			}
			for i := range want {
				if rnd.IntN(4) == 0 {
					m.remove(i)
					delete(want, i)
				}
			}
			require.Equalf(t, slices.Sorted(maps.Keys(want)), slices.Collect(m.all), "of %d", n)
			m.clear()
			for i := range n {
				require.Falsef(t, m.has(i), "%d of %d after clear", i, n)
			}
		}
	}
}
