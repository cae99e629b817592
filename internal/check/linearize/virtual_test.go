//go:build interleave

package linearize

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSeedDecides makes each history twice: it must depend on its plan alone.
func TestSeedDecides(t *testing.T) {
	for _, l := range Layouts {
		t.Run(l.Name, func(t *testing.T) {
			Quiet(func() {
				first := Plan{l, 8, DefaultOps, 1}.Run(Pool)
				again := Plan{l, 8, DefaultOps, 1}.Run(Pool)
				other := Plan{l, 8, DefaultOps, 2}.Run(Pool)
				require.NotEmpty(t, first.Records)
				require.Equal(t, first.Schedule, again.Schedule)
				require.Equal(t, first.Records, again.Records)
				require.NotEqual(t, first.Schedule, other.Schedule)
				require.NotEqual(t, first.Records, other.Records)
			})
		})
	}
}
