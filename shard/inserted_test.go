package shard

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A sum that is too low, beside a Trim, is not told.
func TestReportedNeverGoesDown(t *testing.T) {
	var r reported
	for _, n := range []struct{ sum, want int64 }{{-7, 0}, {5, 5}, {3, 5}, {6, 6}} {
		require.Equal(t, n.want, r.atLeast(n.sum))
	}
}
