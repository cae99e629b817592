//go:build !race

package atom_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/atom"
)

// TestBackoffGrowsWithTheWait: what a pause adds to a wait is in proportion to less than what was
// waited for, and long waits take few looks.
func TestBackoffGrowsWithTheWait(t *testing.T) {
	waited, looks := time.Duration(0), 0
	for ; waited < 24*time.Hour; looks++ {
		pause := atom.Backoff(looks, 16*time.Microsecond)
		most := min(max(waited/100, 2*time.Millisecond, min(waited, 10*time.Millisecond)), 100*time.Millisecond)
		if least := atom.Backoff(looks-1, 16*time.Microsecond); pause > most || pause < least { // millions of calls of require would be slow
			t.Fatalf("look %d pauses for %v, not from %v to %v", looks, pause, least, most)
		}
		waited += pause
		if looks == 350 {
			require.Less(t, waited, time.Second)
		}
	}
	require.Less(t, looks, 900_000)
	require.Equal(t, 100*time.Millisecond, atom.Backoff(1<<31-1, 1))
}
