package storm

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSlowMachineFailsNoStorm: a storm waits for work that is missing, however long that takes, as
// long as some comes, or few steps were taken. It gives up if many steps bring none of it.
func TestSlowMachineFailsNoStorm(t *testing.T) {
	s := new(Storm)
	h := s.hand()
	p := progress{s: s}
	later := func(steps int64) string {
		p.grew = p.grew.Add(-time.Hour)
		s.steps.Add(steps)
		return p.look(Inserted)
	}
	require.Empty(t, p.look(Inserted))
	require.Empty(t, later(idleSteps-1), "few steps in an hour")
	h.Did(Inserted, 1)
	require.Empty(t, later(2*idleSteps), "some work came")
	require.Empty(t, p.look(Removed), "another kind is missing")
	require.Empty(t, p.look(Inserted))
	require.Contains(t, later(2*idleSteps), "steps in 1h")
	h.Did(Inserted, 1)
	p.moved = p.moved.Add(-time.Hour)
	require.Contains(t, p.look(Inserted), "no step was taken")
}
