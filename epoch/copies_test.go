package epoch_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
)

// TestCopyEndsNoBriefPin pins more full guards than there are cells, and then brief guards in
// the same epoch.
func TestCopyEndsNoBriefPin(t *testing.T) {
	d := epoch.New()
	copies := overflow(d, 200)
	brief := d.PinBrief()
	for i := range copies {
		require.Panics(t, copies[i].Unpin, "copy of guard %d", i)
		n, _ := d.Pinned()
		require.Equal(t, 1, n, "the copy of guard %d ended a brief pin", i)
	}
	brief.UnpinBrief()
}

// TestCopyEndsNoPinAfterBriefOnes pins brief guards between two rounds of full ones, in the
// same cells and epoch.
func TestCopyEndsNoPinAfterBriefOnes(t *testing.T) {
	const n = 200
	d := epoch.New()
	copies := append(overflow(d, n), overflow(d, n)...)
	var brief []epoch.Guard
	for range n {
		brief = append(brief, d.PinBrief())
	}
	for i := range brief {
		brief[i].UnpinBrief()
	}
	var pinned []epoch.Guard
	for range n {
		pinned = append(pinned, d.Pin())
	}
	for i := range copies {
		require.False(t, copies[i].Release(), "copy of guard %d", i)
	}
	for i := range pinned {
		pinned[i].Unpin()
	}
}

// TestCopyNeverReleases draws pins of both kinds, and tries every copy.
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
					brief[i].UnpinBrief()
				}
				brief = brief[:0]
			}
			for i := range gone {
				theCopy := gone[i]
				require.False(t, theCopy.Release())
			}
		}
	}
}

// overflow pins n guards at once and unpins them, and returns copies of them.
func overflow(d *epoch.Domain, n int) []epoch.Guard {
	var guards []epoch.Guard
	for range n {
		guards = append(guards, d.Pin())
	}
	copies := append([]epoch.Guard(nil), guards...)
	for i := range guards {
		guards[i].Unpin()
	}
	return copies
}
