package main

import (
	"regexp"
	"strconv"
	"strings"
)

// kind is how a scenario ended.
type kind string

const (
	passed  kind = "passed"
	broken  kind = "broken invariant" // kills, as what a scenario says
	failed  kind = "test failed"      // kills, as what a test says
	noBuild kind = "does not build"
	tooLong kind = "time limit"
	stuck   kind = "livelock or deadlock"
	panics  kind = "panic"
	unsure  kind = "not deterministic"
	crashed kind = "crash" // no report of the explorer, or none that is understood
)

// verdict is what one scenario or test said.
type verdict struct {
	suite
	name        string
	kind        kind
	text        string // what was broken, or went wrong
	schedules   int    // until it showed, or all of them
	preemptions int
	took        string // by exploring, or by the test
}

var (
	summary = regexp.MustCompile(`(?m)^\s+interleave(?:_generated)?_test\.go:\d+: +\d+ schedules \((\d+) with preparing ones\),.* (\S+)$`)
	report  = regexp.MustCompile(`(?m)^\s+interleave(?:_generated)?_test\.go:\d+: (.+)$`)
	ended   = regexp.MustCompile(`(?m)^--- FAIL: TestInterleave(?:Generated)? `)
	found   = regexp.MustCompile(`(?m)^\s+\(run (\d+), (\d+) preemptions, seed \d+\)$`)
)

// others are the reports that do not come from an invariant. The explorer has
// these and no more (run.go, search.go and thread.go of internal/check/interleave);
// everything else that it reports was said by a check of the scenarios.
var others = []struct {
	begins string
	kind   kind
}{
	{"livelock: ", stuck},
	{"deadlock: ", stuck},
	{"panic in thread ", panics},
	{"panic at the end: ", panics},
	{"interleave: ", unsure},
}

// judge reads what the tests printed about one scenario.
//
// Broken means this and nothing less: the scenario's summary is there, then a
// failure with its run and preemptions, as only the explorer writes it; the tests
// came to their end; the failure's first line is of none of the other kinds; and
// when the explorer replayed the schedule the same failure came again.
func judge(out string, ok bool) verdict {
	v := verdict{kind: crashed, text: lastLine(out)}
	at := summary.FindStringSubmatchIndex(out)
	if at == nil {
		return v
	}
	v.schedules, _ = strconv.Atoi(out[at[2]:at[3]])
	v.took = out[at[4]:at[5]]
	if ok {
		if strings.Contains(out, "--- PASS: TestInterleave/") || strings.Contains(out, "--- PASS: TestInterleaveGenerated ") {
			v.kind, v.text = passed, ""
		}
		return v
	}
	rest := out[at[1]:]
	said, run := report.FindStringSubmatch(rest), found.FindStringSubmatch(rest)
	if said == nil || run == nil || !ended.MatchString(rest) {
		return v
	}
	v.kind, v.text = broken, said[1]
	v.schedules, _ = strconv.Atoi(run[1])
	v.preemptions, _ = strconv.Atoi(run[2])
	for _, o := range others {
		if strings.HasPrefix(v.text, o.begins) {
			v.kind = o.kind
		}
	}
	if strings.Contains(rest, "(the failure did not come again") || strings.Contains(rest, "(the program is not deterministic") {
		v.kind = unsure
	}
	return v
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

var (
	testEnded  = regexp.MustCompile(`(?m)^--- (PASS|FAIL): (\w+) \((\S+)\)$`)
	assertion  = regexp.MustCompile(`(?m)^\s+Error:\s+(.*)(?:\n\s+(\S.*))?$`)
	testReport = regexp.MustCompile(`(?m)^\s+\w+_test\.go:\d+: (\S.*)$`)
	panicked   = regexp.MustCompile(`(?m)^(panic: .+)$`)
)

// asleep is what Go's runtime says if all wait.
const asleep = "fatal error: all goroutines are asleep - deadlock!"

// judgeTest reads what one test printed.
//
// Failed means that this test ended, failed, and nothing else went wrong: the process
// came to its end.
func judgeTest(name, out string, ok bool) verdict {
	v := verdict{kind: crashed, text: lastLine(out)}
	thrown := panicked.FindStringSubmatch(out)
	end := testEnded.FindStringSubmatch(out)
	switch {
	case strings.Contains(out, asleep):
		v.kind, v.text = stuck, asleep
	case thrown != nil:
		v.kind, v.text = panics, thrown[1]
	case end == nil || end[2] != name:
		// It did not run, or not to its end.
	case ok && end[1] == "PASS":
		v.kind, v.text, v.took = passed, "", end[3]
	case !ok && end[1] == "FAIL" && v.text == "FAIL":
		v.kind, v.text, v.took = failed, reason(out), end[3]
	}
	return v
}

// reason returns why a test failed, in a line.
func reason(out string) string {
	if m := assertion.FindStringSubmatch(out); m != nil {
		if strings.HasPrefix(m[2], "Test:") {
			m[2] = ""
		}
		return strings.Join(strings.Fields(m[1]+" "+m[2]), " ")
	}
	if m := testReport.FindStringSubmatch(out); m != nil {
		return m[1]
	}
	return "an example's output is another"
}
