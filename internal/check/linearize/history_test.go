package linearize

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"coatcheck/internal/check/verbs"
)

// model is the sequential specification in porcupine's form, for one handle.
var model = porcupine.Model{
	Init: func() any { return verbs.Unborn },
	Step: func(state, input, _ any) (bool, any) {
		ok, next := verbs.Step(state.(verbs.Life), input.(*record).Report)
		return ok, next
	},
}

// gather puts together what the recorders have, with a record for each handle that a span did
// not meet. It leaves out those that cannot matter: of handles that were never live, that were
// not inserted yet (a look may take effect before; a sweep has none), or that were removed
// before.
func (h *history) gather() {
	const end = 1<<63 - 1
	now := h.clock.Inc()
	type tenure struct{ from, to int64 } // the longest time in which a handle can have been live
	tenures := map[handle]*tenure{}
	for _, l := range h.logs {
		h.records = append(h.records, l.records...)
	}
	for i := range h.records {
		r := &h.records[i]
		if r.ret == 0 {
			r.ret = now // the storm ended the call
		}
		if r.Effect == verbs.Insert || r.Effect == verbs.Commit {
			tenures[r.handle] = &tenure{r.call, end}
		}
	}
	for _, r := range h.records {
		if t := tenures[r.handle]; t != nil && r.OK && (r.Effect == verbs.Remove || r.Effect == verbs.Take) {
			t.to = min(t.to, r.ret)
		}
	}
	for _, l := range h.logs {
		for _, s := range l.spans {
			last := s.call
			if s.Effect == verbs.Sweep {
				last = s.ret
			}
			for it, t := range tenures {
				if t.from <= last && t.to >= s.call && !s.met[it] {
					s.handle = it
					h.records = append(h.records, s.record)
				}
			}
		}
	}
}

// lives returns the records by handle, since the lives of different handles are independent.
// Those of a life are ordered by their calls.
func (h *history) lives() map[handle][]*record {
	h.gather()
	by := map[handle][]*record{}
	for i := range h.records {
		r := &h.records[i]
		by[r.handle] = append(by[r.handle], r)
	}
	for _, records := range by {
		slices.SortStableFunc(records, func(a, b *record) int { return cmp.Compare(a.call, b.call) })
	}
	return by
}

// explain asks the checker for an order of the operations of one life.
func explain(records []*record) error {
	ops := make([]porcupine.Operation, len(records))
	for i, r := range records {
		ops[i] = porcupine.Operation{ClientId: r.thread, Input: r, Call: r.call, Return: r.ret}
	}
	// It usually takes microseconds.
	verdict := porcupine.CheckOperationsTimeout(model, ops, time.Minute)
	if verdict == porcupine.Ok {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the life of %v has no explanation (%v)\n  call return thread  verb: handle, effect: result\n", records[0].handle, verdict)
	for _, r := range records {
		fmt.Fprintln(&b, r)
	}
	return fmt.Errorf("%s", b.String())
}
