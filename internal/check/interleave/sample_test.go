package interleave

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSampleFindsALostUpdate(t *testing.T) {
	res := Sample(counting(2), 20, 1)
	require.NotNil(t, res.Failure)
	_, err := Replay(counting(2), res.Failure.Schedule)
	assert.EqualError(t, err, res.Failure.Err.Error())
	assert.Equal(t, res.Failure.Schedule, Sample(counting(2), 20, 1).Failure.Schedule, "its seed repeats it")
}

func TestSampleEndsWhereNoSwitchMatters(t *testing.T) {
	res := Sample(func(r *Run) {
		r.Go("alone", 0, func(*Thread) { Pause() })
	}, 100, 1)
	assert.Equal(t, 1, res.Runs, "one thread has one schedule")
}

// TestSampleRepeatsNothing requires that each schedule of two threads with one preemption
// comes once before any with two.
func TestSampleRepeatsNothing(t *testing.T) {
	seen := map[string]int{}
	Sample(func(r *Run) {
		for i := range 2 {
			r.Go(fmt.Sprint(i), 0, func(*Thread) {
				Pause()
				Pause()
			})
		}
		r.Finally(func() error {
			if r.preemptions == 1 {
				seen[r.schedule.String()]++
			}
			return nil
		})
	}, 8, 1)
	for text, n := range seen {
		assert.Equal(t, 1, n, text)
	}
	assert.Len(t, seen, 4)
}
