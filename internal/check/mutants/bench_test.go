package main

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/interleave"
)

const asProcess = "MUTANTS_PROCESS"

// TestEnds ends as MUTANTS_PROCESS says.
func TestEnds(t *testing.T) {
	switch os.Getenv(asProcess) {
	case "":
		t.Skip("TestJudgeTellsKindsApart runs this")
	case "failed":
		require.Equal(t, 1, 2)
	case "failed below":
		t.Run("below", func(t *testing.T) { t.Error("no") })
	case "panic":
		panic("ouch")
	case "exit":
		os.Exit(1)
	case "asleep":
		select {}
	}
}

func TestInterleave(t *testing.T) {
	lost := interleave.Search(func(r *interleave.Run) { r.Failf("one is lost") }, 0).Failure
	switch os.Getenv(asProcess) {
	case "":
		t.Skip("TestJudgeTellsKindsApart runs this")
	case "reports":
		t.Run("TestEnds", func(t *testing.T) { t.Fatal(lost) })
	case "reports twice":
		t.Run("TestEnds", func(t *testing.T) { t.Error(lost); t.Error(lost) })
	case "reports nothing":
		t.Run("TestEnds", func(t *testing.T) { t.Error("explores nothing") })
	case "reports and exits":
		t.Run("TestEnds", func(t *testing.T) { t.Error(lost); panic("ouch") })
	case "passes":
		t.Run("TestEnds", func(*testing.T) {})
	}
}

// TestJudgeTellsKindsApart judges processes that run one of the tests above. Only whole reports,
// and failed tests of processes that have ended, kill.
func TestJudgeTellsKindsApart(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for _, c := range []struct {
		explores bool
		ends     string
		kind     kind
		text     string
		wanted   kind // by the header, if it kills only then
		mayKill  bool
	}{
		{false, "passes", passed, "", "", false},
		{false, "failed", failed, "Not equal: ", "", true},
		{false, "failed below", failed, "no", "", true},
		{false, "panic", interleave.Panicked, "", interleave.Panicked, true},
		{false, "exit", crashed, "", "", false},
		{true, "passes", passed, "", "", false},
		{true, "reports", interleave.Broken, "one is lost", "", true},
		{true, "reports twice", crashed, "one is lost", "", false},
		{true, "reports nothing", crashed, "explores nothing", "", false},
		{true, "reports and exits", crashed, "one is lost", "", false},
	} {
		k := killer{suite{explores: c.explores}, "TestEnds"}
		cmd := exec.Command(self, "-test.v", "-test.run", "^"+map[bool]string{false: "TestEnds", true: "TestInterleave"}[c.explores]+"$")
		cmd.Env = append(os.Environ(), asProcess+"="+c.ends)
		out, err := cmd.CombinedOutput()
		code := 0
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			code = exit.ExitCode()
		}
		v := verdict{killer: k}
		v.judge(string(out), code)
		require.Equal(t, []any{c.kind, c.text}, []any{v.kind, v.text}, "%s\n%s", c.ends, out)
		require.Equal(t, c.mayKill && c.wanted == "", (&mutant{}).kills(v), c.ends)
		require.Equal(t, c.mayKill, (&mutant{ends: c.wanted}).kills(v), c.ends)
	}
	v := verdict{}
	v.judge(asleep+"\n\ngoroutine 1 [chan receive]:\n", 2)
	require.Equal(t, interleave.Deadlock, v.kind)
}
