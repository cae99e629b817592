package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// samples are what the tests printed when there was something to judge; only the
// records of the schedules are cut short.
var samples = []struct {
	file string
	ok   bool // they succeeded
	want verdict
}{
	{"passed", true, verdict{kind: passed, schedules: 32, took: "2ms"}},
	{"broken", false, verdict{kind: broken, schedules: 12, preemptions: 1, took: "6ms",
		text: "epoch 2 → 1, frontier 1 → 1: one went back, or the frontier passed the epoch"}},
	{"livelock", false, verdict{kind: stuck, schedules: 1, took: "93ms", text: "livelock: the run does not end"}},
	{"deadlock", false, verdict{kind: stuck, schedules: 1, took: "1ms", text: "deadlock: B waits in Insert; C waits in Insert; "}},
	{"panic", false, verdict{kind: panics, schedules: 1, took: "0s",
		text: "panic in thread B: pool: Unpin of a guard that is not pinned (unpinned before, through a copy, or a zero Guard)"}},
	{"choices_differ", false, verdict{kind: unsure, schedules: 14, took: "5ms",
		text: "interleave: the program is not deterministic: 3 options where there were 2"}},
	{"failure_differs", false, verdict{kind: unsure, schedules: 8, took: "1ms",
		text: "epoch 2 → 2, frontier 1 → 0: one went back, or the frontier passed the epoch"}},
	{"no_scenario", true, verdict{kind: crashed, text: "PASS"}},
}

func sample(t *testing.T, name string) string {
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	require.NoError(t, err)
	return string(text)
}

func TestJudgeTellsKindsApart(t *testing.T) {
	for _, s := range samples {
		require.Equal(t, s.want, judge(sample(t, s.file), s.ok), s.file)
	}
}

// TestJudgeKillsOnlyByWholeReports: what was cut off, by a crash or a signal,
// kills nothing, wherever it was cut.
func TestJudgeKillsOnlyByWholeReports(t *testing.T) {
	text := sample(t, "broken")
	whole := strings.Index(text, "--- FAIL: TestInterleave ") + len("--- FAIL: TestInterleave ")
	for n := range whole {
		v := judge(text[:n], false)
		require.Equal(t, crashed, v.kind, "after %d bytes", n)
	}
	require.Equal(t, broken, judge(text, false).kind)

	require.NotEqual(t, broken, judge(text, true).kind, "the tests succeeded")
	require.NotEqual(t, broken, judge("", false).kind)
	require.NotEqual(t, broken, judge("panic: test timed out after 10m0s\n\ngoroutine 1 [running]:\n", false).kind)
	nothing := strings.Replace(sample(t, "passed"), "--- PASS", "    interleave_test.go:59: no switch fell inside an operation: the scenario explores nothing\n--- FAIL", 1)
	require.Equal(t, crashed, judge(nothing, false).kind)
}

// TestJudgeOfTests: a test kills if it came to its end, failed, and nothing else went
// wrong.
func TestJudgeOfTests(t *testing.T) {
	const (
		testify = "=== RUN   TestA\n    a_test.go:7: \n        \tError Trace:\t/a_test.go:7\n" +
			"        \tError:      \tNot equal: \n        \t            \texpected: 1\n        \t            \tactual  : 2\n        \tTest:       \tTestA\n"
		fails  = "--- FAIL: TestA (0.02s)\n"
		thrown = "panic: index out of range [recovered, repanicked]\n\ngoroutine 7 [running]:\n"
	)
	for _, s := range []struct {
		out  string
		ok   bool
		want verdict
	}{
		{"=== RUN   TestA\n--- PASS: TestA (0.01s)\nPASS\n", true, verdict{kind: passed, took: "0.01s"}},
		{testify + fails + "FAIL\n", false, verdict{kind: failed, text: "Not equal: expected: 1", took: "0.02s"}},
		{"=== RUN   TestA\n    a_test.go:9: one is lost\n" + fails + "FAIL\n", false, verdict{kind: failed, text: "one is lost", took: "0.02s"}},
		{"=== RUN   ExampleA\n--- FAIL: ExampleA (0.00s)\ngot:\n1\nwant:\n2\nFAIL\n", false, verdict{kind: crashed, text: "FAIL"}},
		{testify + fails + thrown, false, verdict{kind: panics, text: "panic: index out of range [recovered, repanicked]"}},
		{"=== RUN   TestA\n" + asleep + "\n\ngoroutine 1 [chan receive]:\n", false, verdict{kind: stuck, text: asleep}},
		{testify + fails, false, verdict{kind: crashed, text: "--- FAIL: TestA (0.02s)"}},
		{testify, false, verdict{kind: crashed, text: "        \tTest:       \tTestA"}},
		{testify + fails + "FAIL\n", true, verdict{kind: crashed, text: "FAIL"}},
		{"testing: warning: no tests to run\nPASS\n", true, verdict{kind: crashed, text: "PASS"}},
	} {
		require.Equal(t, s.want, judgeTest("TestA", s.out, s.ok), s.out)
	}
	v := judgeTest("ExampleA", "=== RUN   ExampleA\n--- FAIL: ExampleA (0.00s)\ngot:\n1\nwant:\n2\nFAIL\n", false)
	require.Equal(t, verdict{kind: failed, text: "an example's output is another", took: "0.00s"}, v)
}

// TestOnlyWhatASeedComesToKillsIt: a deadlock, say, is no broken invariant, save where
// the seed is one.
func TestOnlyWhatASeedComesToKillsIt(t *testing.T) {
	for _, k := range []kind{passed, broken, failed, noBuild, tooLong, stuck, panics, unsure, crashed} {
		require.Equal(t, k == broken || k == failed, (&seed{}).kills(k), k)
		require.Equal(t, k == stuck, (&seed{ends: stuck}).kills(k), k)
		require.Equal(t, k == panics, (&seed{ends: panics}).kills(k), k)
	}
}

// TestExplorerSaysWhatJudgeExpects: a report of the explorer that is worded anew
// must not come to count as a broken invariant.
func TestExplorerSaysWhatJudgeExpects(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root(t), "internal", "check", "interleave", "*.go"))
	require.NoError(t, err)
	var text string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		text += string(data)
	}
	for _, o := range others {
		require.Contains(t, text, `"`+o.begins)
	}
	said := regexp.MustCompile(`(?:fail|Failf)\((?:fmt\.Errorf\(|errors\.New\()?"([^"]+)"`).FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, said)
	for _, m := range said {
		require.True(t, known(m[1]), "the explorer fails runs with %q, which would kill", m[1])
	}
	require.Contains(t, text, "(the failure did not come again")
	require.Contains(t, text, "(the program is not deterministic")
}

// known answers whether a failure that begins so comes from the explorer.
func known(text string) bool {
	for _, o := range others {
		if strings.HasPrefix(text, o.begins) {
			return true
		}
	}
	return false
}

// TestTimeLimitKillsNothing: not even a process that had said that an invariant
// is broken.
func TestTimeLimitKillsNothing(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh")
	}
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "pool"), 0o777))
	text, err := filepath.Abs(filepath.Join("testdata", "broken.txt"))
	require.NoError(t, err)
	b := &bench{config: &config{limit: 100 * time.Millisecond}, tree: dir, binary: filepath.Join(dir, "tests")}
	u := suite{poolPackage, true}
	script := func(end string) {
		require.NoError(t, os.WriteFile(b.binaryOf(u), []byte("#!/bin/sh\ncat '"+text+"'\n"+end+"\n"), 0o777))
	}
	script("exec sleep 60")
	v := b.run(u, "two sealers", 2)
	require.Equal(t, tooLong, v.kind)
	require.Equal(t, "two sealers", v.name)
	require.Equal(t, u, v.suite)

	b.limit = time.Minute
	script("exit 1")
	require.Equal(t, broken, b.run(u, "two sealers", 2).kind, "the same in time")
}
