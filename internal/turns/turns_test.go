package turns

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCrewDoesEveryOperationAndReturnsTheFirstError(t *testing.T) {
	for _, k := range []int{1, 2, 7} {
		var ops atomic.Int64
		fail := make([]error, k)
		var c Crew
		for i := range k {
			c = append(c, func(n int) (int, error) {
				ops.Add(int64(n))
				if n == 13 {
					panic("unlucky")
				}
				return n, fail[i]
			})
		}
		for range 3 {
			did, err := c.Do(100 * k)
			require.NoError(t, err)
			require.Equal(t, 100*k, did)
		}
		require.EqualValues(t, 300*k, ops.Load())
		fail[k-1] = errors.New("wrong")
		_, err := c.Do(k)
		require.ErrorIs(t, err, fail[k-1])
		if k > 1 {
			_, err = c.Do(13 * k)
			require.ErrorContains(t, err, "unlucky")
			c[1] = func(int) (int, error) { runtime.Goexit(); return 0, nil }
			_, err = c.Do(k)
			require.Error(t, err)
		}
	}
}

func TestCalibrationFindsATurn(t *testing.T) {
	for _, each := range []time.Duration{time.Nanosecond, time.Microsecond, time.Second} {
		var all time.Duration
		n, err := Calibrate(10*time.Millisecond, func(n int) (int, time.Duration, error) {
			took := time.Duration(n) * each
			all += took
			return n, took, nil
		})
		require.NoError(t, err)
		require.InDelta(t, max(1, float64(10*time.Millisecond/each)), n, 1)
		require.LessOrEqual(t, all, max(20*time.Millisecond, each))
	}
	// A clock that does not advance.
	n, err := Calibrate(time.Second, func(n int) (int, time.Duration, error) { return n, 0, nil })
	require.NoError(t, err)
	require.LessOrEqual(t, n, most)
	wrong := errors.New("wrong")
	_, err = Calibrate(time.Second, func(int) (int, time.Duration, error) { return 0, 0, wrong })
	require.ErrorIs(t, err, wrong)
}

func TestMedian(t *testing.T) {
	xs := []float64{3, 1, 2}
	require.Equal(t, 2.0, Median(xs))
	require.Equal(t, []float64{3, 1, 2}, xs, "the argument is unchanged")
	require.Equal(t, 2.5, Median([]float64{4, 3, 1, 2}))
}
