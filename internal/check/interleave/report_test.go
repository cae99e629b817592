package interleave

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestReportsTellKindsApart requires that each failure ends with a line that has its kind.
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
		kind  Kind
		text  string
		runs  int
		pre   int
		setup Setup
	}{
		{Broken, "1 additions of 2", 4, 1, counting(2)},
		{Broken, "is 1", 1, 0, func(r *Run) { r.Check(func() error { return errors.New("is 1") }) }},
		{Livelock, "livelock: the run does not end", 1, 0, threads(func(*Run, *Thread) {
			for {
				Pause()
			}
		})},
		{Deadlock, "deadlock: t waits in ; ", 1, 0, threads(func(*Run, *Thread) {
			LockMutex(unsafe.Pointer(mu))
			LockMutex(unsafe.Pointer(mu))
		})},
		{Panicked, "panic in thread t: ouch", 1, 0, threads(func(*Run, *Thread) { panic("ouch") })},
		{Panicked, "panic at the end: ouch", 1, 0, func(r *Run) { r.Finally(func() error { panic("ouch") }) }},
		{NotDeterministic, "once", 1, 0, threads(func(r *Run, _ *Thread) {
			if runs == 1 {
				r.Failf("once")
			}
		})},
		{NotDeterministic, "run 1", 1, 0, threads(func(r *Run, _ *Thread) { r.Failf("run %d", runs) })},
		{NotDeterministic, "interleave: the program is not deterministic: 3 options where there were 2", 2, 0, func(r *Run) {
			runs++
			for range 1 + runs {
				r.Go("t", 0, func(*Thread) {})
			}
		}},
	} {
		runs = 0
		f := Search(p.setup, 2).Failure
		require.NotNil(t, f, p.text)
		end := fmt.Sprintf("\n(%s, run %d, %d preemptions, seed 0)", p.kind, p.runs, p.pre)
		require.True(t, strings.HasPrefix(f.Error(), p.text) && strings.HasSuffix(f.Error(), end), "%v; want %q%s", f, p.text, end)
	}
}
