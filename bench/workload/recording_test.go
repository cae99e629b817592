package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRecordingHasTheJobs(t *testing.T) {
	rec, err := loadJobs()
	require.NoError(t, err)
	require.Equal(t, 4, rec.workers)
	require.Greater(t, rec.nodes, 1_000)
	require.Greater(t, rec.ops, 4*rec.nodes)
	require.Less(t, rec.peak, rec.nodes/2)

	began, elsewhere := make([]int, rec.nodes), 0
	for _, e := range rec.entries {
		switch e.verb {
		case '+':
			began[e.nodes[0]] = e.worker
		case '-':
			if began[e.nodes[0]] != e.worker {
				elsewhere++
			}
		}
	}
	require.Greater(t, elsewhere, rec.nodes/2)
}
