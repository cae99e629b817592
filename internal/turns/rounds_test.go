package turns

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The figures of the middle round have the printed ratio. Here it is 1.00, and that of the
// contestants' medians is 1.50.
func TestRatioIsThatOfTheMiddleRound(t *testing.T) {
	p := Pair{Of: []float64{30, 10, 20}, To: []float64{20, 10, 40}}
	require.Equal(t, 1, p.Middle())
	require.Equal(t, "1.00 (1.00–1.50)", p.Ratio())
	require.Equal(t, "0.50", Pair{Of: []float64{1}, To: []float64{2}}.Ratio())
}
