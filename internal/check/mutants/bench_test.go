//go:build !race

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/interleave"
)

// TestJudgeTellsKindsApart requires that only whole reports of the explorer, and failed tests of
// processes that have ended, kill.
func TestJudgeTellsKindsApart(t *testing.T) {
	const fails, passes, panics = "--- FAIL: TestX (0.00s)\n", "--- PASS: TestX (0.00s)\n", "panic: ouch\n"
	const inside = "--- FAIL: TestInterleave/TestX (0.00s)\n"
	lost := "    x.go:1: " + interleave.Search(func(r *interleave.Run) { r.Failf("one is lost") }, 0).Failure.Error() + "\n"
	for _, c := range []struct {
		how  string
		out  string
		code int
		kind kind
	}{
		{"", passes, 0, passed},
		{"", "testing: warning: no tests to run\n", 0, crashed},
		{"", fails, 1, failed},
		{"", "", 1, crashed}, // it exited
		{"", fails + panics, 2, interleave.Panicked},
		{"", asleep + "\n\ngoroutine 1 [chan receive]:\n", 2, interleave.Deadlock},
		{exploring, "--- PASS: TestInterleave/TestX (0.00s)\n", 0, passed},
		{exploring, inside + lost, 1, interleave.Broken},
		{exploring, inside + lost + lost, 1, crashed},
		{exploring, inside, 1, crashed},
		{exploring, inside + lost + panics, 2, crashed},
	} {
		v := verdict{killer: killer{suite{how: c.how}, "TestX"}}
		v.judge(c.out, c.code)
		require.Equal(t, c.kind, v.kind, "%+v", c)
		require.Equal(t, c.kind == failed || c.kind == interleave.Broken, (&mutant{}).kills(v), "%+v", c)
		require.Equal(t, c.kind == failed || c.kind == interleave.Broken || c.kind == interleave.Panicked, (&mutant{ends: interleave.Panicked}).kills(v), "%+v", c)
	}
}
