package testkit

import (
	"errors"
	"os/exec"
	"testing"
)

// Run runs a program, and returns what it printed and whether it ended well. If none can be started, as in an
// emulator, Run skips the test.
func Run(t testing.TB, program *exec.Cmd) (printed string, ok bool) {
	t.Helper()
	out, err := program.CombinedOutput()
	if ended := new(exec.ExitError); err != nil && !errors.As(err, &ended) {
		t.Skip("no other program can be started: ", err)
	}
	return string(out), err == nil
}
