package epoch_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
)

// TestCopyNeverReleases draws pins of both kinds, more than there are cells, and tries every
// copy.
func TestCopyNeverReleases(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		d := epoch.New()
		var full, brief, gone []epoch.Guard
		for range 300 {
			switch r.IntN(5) {
			case 0, 1:
				full = append(full, d.Pin())
			case 2:
				brief = append(brief, d.PinBrief())
			case 3:
				if len(full) > 0 {
					i := r.IntN(len(full))
					gone = append(gone, full[i])
					full[i].Unpin()
					full = append(full[:i], full[i+1:]...)
				}
			case 4:
				for i := range brief {
					brief[i].Unpin()
				}
				brief = brief[:0]
			}
			for i := range gone {
				theCopy := gone[i]
				require.False(t, theCopy.Release())
			}
			require.Equal(t, len(full)+len(brief), d.Scan().Count, "a copy has ended another pin")
		}
	}
}
