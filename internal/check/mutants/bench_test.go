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
		explores bool
		out      string
		code     int
		kind     kind
	}{
		{false, passes, 0, passed},
		{false, "testing: warning: no tests to run\n", 0, crashed},
		{false, fails, 1, failed},
		{false, "", 1, crashed}, // it exited
		{false, fails + panics, 2, interleave.Panicked},
		{false, asleep + "\n\ngoroutine 1 [chan receive]:\n", 2, interleave.Deadlock},
		{true, "--- PASS: TestInterleave/TestX (0.00s)\n", 0, passed},
		{true, inside + lost, 1, interleave.Broken},
		{true, inside + lost + lost, 1, crashed},
		{true, inside, 1, crashed},
		{true, inside + lost + panics, 2, crashed},
	} {
		v := verdict{killer: killer{suite{explores: c.explores}, "TestX"}}
		v.judge(c.out, c.code)
		require.Equal(t, c.kind, v.kind, "%+v", c)
		require.Equal(t, c.kind == failed || c.kind == interleave.Broken, (&mutant{}).kills(v), "%+v", c)
		require.Equal(t, c.kind == failed || c.kind == interleave.Broken || c.kind == interleave.Panicked, (&mutant{ends: interleave.Panicked}).kills(v), "%+v", c)
	}
}
