package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"

	"coatcheck/internal/check/interleave"
)

// kind is how a scenario or a test ended: a kind of the explorer, or one of these.
type kind = interleave.Kind

const (
	passed  kind = "passed"
	failed  kind = "test failed"
	noBuild kind = "does not build"
	tooLong kind = "time limit"
	crashed kind = "crash" // it did not end, or its report cannot be read
)

// verdict is the result of one scenario or test.
type verdict struct {
	killer
	kind        kind
	text        string // what was broken
	schedules   int    // until it was found
	preemptions int
	took        string
}

// event is an event of go tool test2json.
type event struct {
	Action, Test, Output string
	Elapsed              float64
}

// events parses the output of a test binary that was run with -test.v=test2json.
func events(printed []byte) (list []event, err error) {
	cmd := exec.Command("go", "tool", "test2json", "-t")
	cmd.Stdin = bytes.NewReader(printed)
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go tool test2json: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var e event
		if err := d.Decode(&e); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// judge judges the events of a process that ran one scenario or test. ok means that it
// exited with 0.
//
// A failure counts only if both the test and the process ended and failed. If schedules are
// explored, the explorer must have made one report, whose kind is the verdict's. Otherwise
// a deadlock or a panic may have ended the process before.
func judge(k killer, events []event, ok bool) verdict {
	var said strings.Builder
	var test, process event // their ends
	var fatal string
	for _, e := range events {
		mine, ends := e.Test == k.test(), e.Action == "pass" || e.Action == "fail" || e.Action == "skip"
		switch {
		case ends && mine:
			test = e
		case ends && e.Test == "":
			process = e
		case (mine || strings.HasPrefix(e.Test, k.test()+"/")) && !strings.HasPrefix(e.Output, "=== ") && !strings.HasPrefix(e.Output, "--- "):
			said.WriteString(e.Output)
		}
		if fatal == "" && (strings.HasPrefix(e.Output, "panic: ") || strings.HasPrefix(e.Output, asleep)) {
			fatal = strings.TrimSpace(e.Output)
		}
	}
	v := verdict{killer: k, kind: crashed, text: oneLine(said.String()), took: fmt.Sprintf("%.2fs", test.Elapsed)}
	switch {
	case !ok && process.Action == "" && fatal == asleep && !k.explores:
		v.kind, v.text = interleave.Deadlock, fatal
	case !ok && process.Action == "" && fatal != "" && !k.explores:
		v.kind, v.text = interleave.Panicked, fatal
	case ok && test.Action == "pass" && process.Action == "pass":
		v.kind, v.text = passed, ""
	case ok || test.Action != "fail" || process.Action != "fail":
		// It did not run, or did not end.
	case !k.explores:
		v.kind = failed
	default:
		var reports []interleave.Report
		for line := range strings.Lines(said.String()) {
			if r, ok := interleave.ParseReport(line); ok {
				reports = append(reports, r)
			}
		}
		if len(reports) == 1 {
			r := reports[0]
			v.kind, v.text, v.schedules, v.preemptions = r.Kind, r.Text, r.Runs, r.Preemptions
		}
	}
	return v
}

// asleep is the message of Go's runtime if all goroutines wait.
const asleep = "fatal error: all goroutines are asleep - deadlock!"

// oneLine returns the output of a test in one line: of testify's report, only the error.
func oneLine(said string) string {
	said = strings.Join(strings.Fields(said), " ")
	if _, wrong, ok := strings.Cut(said, " Error: "); ok {
		said, _, _ = strings.Cut(wrong, " Test: ")
	}
	return strings.ToValidUTF8(said[:min(len(said), 300)], "")
}
