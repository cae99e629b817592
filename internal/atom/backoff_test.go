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
		require.LessOrEqual(t, pause, max(waited/100, 2*time.Millisecond, min(waited, 10*time.Millisecond)))
		require.LessOrEqual(t, pause, 100*time.Millisecond)
		require.GreaterOrEqual(t, pause, atom.Backoff(looks-1, 16*time.Microsecond))
		waited += pause
		if looks == 350 {
			require.Less(t, waited, time.Second)
		}
	}
	require.Less(t, looks, 900_000)
	require.Equal(t, 100*time.Millisecond, atom.Backoff(1<<31-1, 1))
}
