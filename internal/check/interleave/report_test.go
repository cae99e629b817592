package interleave

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestReportsTellKindsApart requires that each failure ends with one line that has its report.
func TestReportsTellKindsApart(t *testing.T) {
	runs, mu := 0, new(word)
	threads := func(fs ...func(r *Run, t *Thread)) Setup {
		return func(r *Run) {
			runs++
			for _, f := range fs {
				r.Go("t", 0, func(t *Thread) { f(r, t) })
			}
		}
	}
	for _, p := range []struct {
		want  Report
		setup Setup
	}{
		{Report{Broken, "1 additions of 2", 4, 1}, counting(2)},
		{Report{Broken, "is 1", 1, 0}, func(r *Run) { r.Check(func() error { return errors.New("is 1") }) }},
		{Report{Livelock, "livelock: the run does not end", 1, 0}, threads(func(*Run, *Thread) {
			for {
				Pause()
			}
		})},
		{Report{Deadlock, "deadlock: t waits in ; ", 1, 0}, threads(func(*Run, *Thread) {
			LockMutex(unsafe.Pointer(mu))
			LockMutex(unsafe.Pointer(mu))
		})},
		{Report{Panicked, "panic in thread t: ouch", 1, 0}, threads(func(*Run, *Thread) { panic("ouch") })},
		{Report{Panicked, "panic at the end: ouch", 1, 0}, func(r *Run) { r.Finally(func() error { panic("ouch") }) }},
		{Report{NotDeterministic, "once", 1, 0}, threads(func(r *Run, _ *Thread) {
			if runs == 1 {
				r.Failf("once")
			}
		})},
		{Report{NotDeterministic, "run 1", 1, 0}, threads(func(r *Run, _ *Thread) { r.Failf("run %d", runs) })},
		{Report{NotDeterministic, "interleave: the program is not deterministic: 3 options where there were 2", 2, 0}, func(r *Run) {
			runs++
			for range 1 + runs {
				r.Go("t", 0, func(*Thread) {})
			}
		}},
	} {
		runs = 0
		f := Search(p.setup, 2).Failure
		require.NotNil(t, f, p.want)
		var got []Report
		for line := range strings.Lines(f.Error()) {
			if r, ok := ParseReport("        " + line); ok {
				got = append(got, r)
			}
		}
		require.Equal(t, []Report{p.want}, got, f.Error())
	}
}
