package apps

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// All versions of a program have the same result, with few goroutines and with many.
func TestVersionsAgree(t *testing.T) {
	for _, app := range All() {
		for _, goroutines := range []int{1, 2, 16} {
			if app.Alone && goroutines > 1 {
				continue
			}
			l := Load{Quick: true, Goroutines: goroutines}
			want := app.Versions[0].Run(l)
			for _, v := range app.Versions {
				got := v.Run(l)
				require.Equal(t, want.Sum, got.Sum, "%s/%s", app.ID, v.Impl)
				require.Equal(t, want.Ops, got.Ops, "%s/%s", app.ID, v.Impl)
				require.Positive(t, got.Ops)
				require.Equal(t, app.Saves, got.Saved > 0, "%s/%s", app.ID, v.Impl)
			}
		}
	}
}

func TestUnknownProgramsAreErrors(t *testing.T) {
	_, err := Find("ForkJoin/none")
	require.ErrorContains(t, err, `"ForkJoin/none"`)
}

// The heap yields the most urgent first, and of those the oldest.
func TestReadyIsOrdered(t *testing.T) {
	var r ready[int]
	for i := range 100 {
		r.push(uint64(i*7%3), i)
	}
	last, n := -1, 0
	for i, ok := r.pop(); ok; i, ok = r.pop() {
		order := i*7%3*1000 + i
		require.Greater(t, order, last)
		last = order
		n++
	}
	require.Equal(t, 100, n)
}
