package interleave

import (
	"fmt"
	"testing"
	"unsafe"

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

// Each schedule of two threads with one preemption comes once before any has two.
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

// An item is news to one program, and counts the others.
func TestCoverageIsNewsOnce(t *testing.T) {
	c := new(Coverage)
	run := func(setup Setup) []Item {
		c.Program()
		Sample(func(r *Run) {
			r.Cover(c, func(unsafe.Pointer) uint32 { return 1 })
			setup(r)
		}, 20, 1)
		return c.News()
	}
	var word uint64
	op := func(r *Run, name string, loads, stores int) {
		r.Go(name, 0, func(t *Thread) {
			t.Begin(name)
			for range loads {
				Before(Load, unsafe.Pointer(&word), 0, 0)
			}
			for range stores {
				Before(Store, unsafe.Pointer(&word), 0, 0)
			}
			t.End()
		})
	}
	alone := run(func(r *Run) { op(r, "look", 2, 0) })
	assert.Len(t, alone, 3, "two accesses, one after the other, and the end")
	assert.Empty(t, run(func(r *Run) { op(r, "look", 2, 0) }))
	assert.Equal(t, 2, c.Programs(alone[0]))
	both := run(func(r *Run) { op(r, "look", 2, 0); op(r, "write", 0, 1) })
	assert.Len(t, both, 5, "the write, its end, that it fell into the look, and that either load saw it")
}
