package main

import (
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/interleave"
)

// Lines that a process prints when it runs TestA.
const (
	passes  = "\x16--- PASS: TestA (0.01s)\n"
	fails   = "\x16--- FAIL: TestA (0.02s)\n"
	testify = "    a_test.go:7: \n        \tError Trace:\t/a_test.go:7\n        \tError:      \tNot equal: \n" +
		"        \t            \texpected: 1\n        \t            \tactual  : 2\n        \tTest:       \tTestA\n"
	waits = asleep + "\n\ngoroutine 1 [chan receive]:\n"
	throw = "panic: ouch [recovered, repanicked]\n\ngoroutine 7 [running]:\n"
	pass  = "\x16PASS\n"
	fail  = "\x16FAIL\n"
)

// printed returns the events of text, with k in TestA's place.
func printed(t *testing.T, k killer, text string) []event {
	list, err := events([]byte("\x16=== RUN   " + k.test() + "\n" + strings.ReplaceAll(text, " TestA (", " "+k.test()+" (")))
	require.NoError(t, err)
	return list
}

// reports returns the explorer's output for a failure of kind k.
func reports(k kind) string {
	f := interleave.Failure{Report: interleave.Report{Kind: k, Text: "one is lost", Runs: 7}, Err: errors.New("one is lost\nreport:")}
	return "    a_test.go:1: " + strings.ReplaceAll(f.Error(), "\n", "\n        ") + "\n"
}

func TestJudgeTellsKindsApart(t *testing.T) {
	lost := reports(interleave.Broken)
	for _, s := range []struct {
		explores, ok bool
		printed      string
		kind         kind
		text         string
	}{
		{false, true, passes + pass, passed, ""},
		{false, false, testify + fails + fail, failed, "Not equal: expected: 1 actual : 2"},
		{false, false, "    a_test.go:9: panic: no\n" + fails + fail, failed, "a_test.go:9: panic: no"},
		{false, false, "\x16=== RUN   TestA/b\n    a_test.go:9: no\n\x16--- FAIL: TestA/b (0.01s)\n" + fails + fail, failed, "a_test.go:9: no"},
		{false, false, fails + "got:\n1\nwant:\n2\n" + fail, failed, "got: 1 want: 2"},
		{false, false, testify + fails + throw, interleave.Panicked, "panic: ouch [recovered, repanicked]"},
		{false, false, waits, interleave.Deadlock, asleep},
		{false, false, waits + fails + fail, failed, asleep + " goroutine 1 [chan receive]:"},
		{false, false, testify + fails, crashed, "Not equal: expected: 1 actual : 2"},
		{false, false, testify + fail, crashed, "Not equal: expected: 1 actual : 2"},
		{false, false, "\x16--- FAIL: TestB (0.02s)\n" + fail, crashed, ""},
		{false, false, passes + pass, crashed, ""},
		{false, true, fails + fail, crashed, ""},
		{false, true, "\x16--- SKIP: TestA (0.00s)\n" + pass, crashed, ""},
		{false, true, "testing: warning: no tests to run\n" + pass, crashed, "testing: warning: no tests to run"},

		{true, true, passes + pass, passed, ""},
		{true, false, lost + fails + fail, interleave.Broken, "one is lost"},
		{true, false, reports(interleave.NotDeterministic) + fails + fail, interleave.NotDeterministic, "one is lost"},
		{true, false, "    a_test.go:9: explores nothing\n" + fails + fail, crashed, "a_test.go:9: explores nothing"},
		{true, false, fails + throw, crashed, "panic: ouch [recovered, repanicked] goroutine 7 [running]:"},
		{true, false, waits, crashed, asleep + " goroutine 1 [chan receive]:"},
	} {
		k := killer{suite{explores: s.explores}, "TestA"}
		v := judge(k, printed(t, k, s.printed), s.ok)
		require.Equal(t, []any{s.kind, s.text}, []any{v.kind, v.text}, "%q", s.printed)
	}
}

// TestJudgeKillsOnlyByWholeReports requires that output which a crash or a signal cut off
// kills nothing, wherever it was cut, and that two reports kill nothing.
func TestJudgeKillsOnlyByWholeReports(t *testing.T) {
	k, lost := killer{suite{explores: true}, "a"}, reports(interleave.Broken)
	whole := printed(t, k, lost+fails+fail)
	require.Equal(t, verdict{killer: k, kind: interleave.Broken, text: "one is lost", schedules: 7, took: "0.02s"}, judge(k, whole, false))
	require.Equal(t, crashed, judge(k, whole, true).kind, "it exited with 0")
	for i, e := range whole {
		require.Equal(t, crashed, judge(k, whole[:i], false).kind, "cut after %d events", i)
		if _, ok := interleave.ParseReport(e.Output); ok {
			require.Equal(t, crashed, judge(k, slices.Delete(slices.Clone(whole), i, i+1), false).kind)
			require.Equal(t, crashed, judge(k, slices.Insert(slices.Clone(whole), i, e), false).kind)
		}
	}
}

// TestOtherEndsKillOnlyWhereTheHeaderSaysSo requires that a deadlock, for example, kills only a
// mutant that may end in one. Drawn streams may end in a failed assertion or in the panic.
func TestOtherEndsKillOnlyWhereTheHeaderSaysSo(t *testing.T) {
	for _, k := range append(fates, passed, interleave.Broken, failed, noBuild, tooLong, interleave.NotDeterministic, crashed) {
		found := k == interleave.Broken || k == failed
		require.Equal(t, found, (&mutant{}).kills(k), k)
		for _, e := range fates {
			require.Equal(t, found || k == e, (&mutant{ends: e}).kills(k), k)
		}
	}
}

const asScenarios = "MUTANTS_SCENARIOS"

var _ = flag.Int("interleave.bound", 0, "the flag that run passes to tests that explore")

// TestInterleave stands for the tests of that name in other packages.
func TestInterleave(t *testing.T) {
	if os.Getenv(asScenarios) == "" {
		t.Skip("TestRunExplores runs this")
	}
	for name, sleep := range map[string]time.Duration{"breaks": 0, "breaks and hangs": time.Hour} {
		t.Run(name, func(t *testing.T) {
			defer time.Sleep(sleep)
			t.Fatal(interleave.Search(func(r *interleave.Run) { r.Failf("one is lost") }, 0).Failure)
		})
	}
}

func TestRunExplores(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	t.Setenv(asScenarios, "1")
	b, u := &bench{&config{limit: time.Minute}, ".", t.TempDir()}, suite{".", true}
	require.NoError(t, os.Symlink(self, b.binary(u)))
	v := b.run(killer{u, "breaks"}, 2)
	require.Equal(t, []any{interleave.Broken, "one is lost", 1}, []any{v.kind, v.text, v.schedules})
	require.Equal(t, crashed, b.run(killer{u, "is not there"}, 2).kind)
	b.limit = time.Second
	require.Equal(t, tooLong, b.run(killer{u, "breaks and hangs"}, 2).kind, "a time limit kills nothing, whatever was reported")
}
