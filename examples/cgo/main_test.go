package main_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgram: the program runs with checkptr's checks and passes vet. Its timers fire
// for their own sessions or for none.
func TestProgram(t *testing.T) {
	vet, err := exec.Command("go", "vet", ".").CombinedOutput()
	require.NoError(t, err, "%s", vet)
	out, err := exec.Command("go", "run", "-gcflags=-d=checkptr=2", ".", "-rounds=0").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, `at 2 o'clock
  alice wakes for the first time
  bob wakes for the first time
at 4 o'clock
  a timer for a session that has ended
  carol wakes for the first time
  bob wakes for the second time
at 5 o'clock
  a timer for a session that has ended
0 sessions left
`, string(out))
}
