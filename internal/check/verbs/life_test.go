//go:build !race

package verbs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"coatcheck/internal/check/verbs"
)

// TestStep lists the state after each report in each state, or - where it is wrong.
func TestStep(t *testing.T) {
	says := func(e verbs.Effect, value uint64) verbs.Report {
		return verbs.Report{Effect: e, OK: true, Value: value}
	}
	not := func(e verbs.Effect) verbs.Report { return verbs.Report{Effect: e} }
	reports := []verbs.Report{
		says(verbs.Reserve, 0), says(verbs.Insert, 1), says(verbs.Commit, 1), says(verbs.Cancel, 0),
		says(verbs.Look, 0), not(verbs.Look), says(verbs.Read, 1), not(verbs.Read),
		says(verbs.Remove, 0), not(verbs.Remove), says(verbs.Take, 1), not(verbs.Take), says(verbs.Sweep, 0),
	}
	states := map[string]verbs.Life{"U": verbs.Unborn, "R": verbs.Reserved, "D": verbs.Dead, "1": verbs.Live(1), "2": verbs.Live(2)}
	for from, row := range map[string]string{
		"U": "R 1 - -  - U - U  - U - U U",
		"R": "- - 1 D  - R - R  - R - R R",
		"1": "- - - -  1 - 1 -  D - D - D",
		"2": "- - - -  2 - - -  D - - - D", // another value
		"D": "- - - -  - D - D  - D - D D",
	} {
		for i, want := range strings.Fields(row) {
			ok, next := verbs.Step(states[from], reports[i])
			assert.Equalf(t, want != "-", ok, "%v: %v", states[from], reports[i])
			assert.Equalf(t, ok, reports[i].Fits(states[from]), "%v: %v", states[from], reports[i])
			if ok {
				assert.Equalf(t, states[want], next, "after %v: %v", states[from], reports[i])
			}
		}
	}
	assert.True(t, not(verbs.Look).Fits(verbs.Live(1), verbs.Dead), "one of several states is enough")
	assert.False(t, says(verbs.Look, 0).Fits(verbs.Unborn, verbs.Dead), "a call that says nothing should fit no change")
	assert.False(t, not(verbs.Look).Fits(), "in no state")
}
