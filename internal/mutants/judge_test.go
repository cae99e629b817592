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

// TestExplorerSaysWhatJudgeExpects: a report of the explorer that is worded anew
// must not come to count as a broken invariant.
func TestExplorerSaysWhatJudgeExpects(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root(t), "internal", "interleave", "*.go"))
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
	script := func(end string) {
		require.NoError(t, os.WriteFile(b.binary, []byte("#!/bin/sh\ncat '"+text+"'\n"+end+"\n"), 0o777))
	}
	script("exec sleep 60")
	v := b.explore("two sealers", 2)
	require.Equal(t, tooLong, v.kind)
	require.Equal(t, "two sealers", v.scenario)

	b.limit = time.Minute
	script("exit 1")
	require.Equal(t, broken, b.explore("two sealers", 2).kind, "the same in time")
}
