//go:build !race

package table

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPiecesHaveBounds: 4,096 records, or fewer if these take more than 256 KiB, but one at least.
func TestPiecesHaveBounds(t *testing.T) {
	require.Equal(t, 4096, recordsOfPiece[uint64, uint64]())
	require.Equal(t, 4096, recordsOfPiece[uint64, [7]uint64](), "256 KiB")
	require.Equal(t, 4096*8/9, recordsOfPiece[uint64, [8]uint64]())
	require.Equal(t, 1, recordsOfPiece[uint64, [1 << 15]uint64](), "256 KiB and a little")
	require.Equal(t, 1, recordsOfPiece[uint64, [1 << 20]uint64]())
}
