package linearize

import (
	"cmp"
	"slices"

	"github.com/anishathalye/porcupine"
)

// History is the record of the threads of one plan.
type History struct {
	Plan      Plan
	Records   []Record // including those of spans
	Problems  []string // errors that threads found; first, threads that did not end
	Published int
	Removed   int
	Full      int
}

// gather returns the history of the threads' logs. broken lists why threads did not end.
func gather(p Plan, logs []*log, broken ...string) *History {
	h := &History{Plan: p, Problems: broken}
	var spans []Span
	for _, l := range logs {
		h.Records = append(h.Records, l.records...)
		h.Problems = append(h.Problems, l.problems...)
		h.Published += l.published
		h.Removed += l.removed
		h.Full += l.full
		spans = append(spans, l.spans...)
	}
	now := logs[0].clock.read()
	for i := range h.Records {
		if r := &h.Records[i]; r.Return == 0 {
			r.Return = now // a panic ended the call
		}
	}
	h.expand(spans)
	return h
}

// tenure is the longest time in which a handle can have been live.
type tenure struct {
	handle   Handle
	from, to int64
}

// expand adds the records of spans, one for each handle that they did not meet. It leaves
// out records that cannot matter: of handles that were never live, that were not inserted
// yet (a Look may take effect before; a Sweep has none), or that were removed before.
func (h *History) expand(spans []Span) {
	const end = 1<<63 - 1
	var all []*tenure // in the order of records, so that histories repeat
	tenures := make(map[Handle]*tenure)
	for i := range h.Records {
		r := &h.Records[i]
		if tenures[r.Handle] == nil && (r.Effect == Insert || r.Effect == Commit) {
			t := &tenure{r.Handle, r.Call, end}
			all, tenures[r.Handle] = append(all, t), t
		}
	}
	for i := range h.Records {
		r := &h.Records[i]
		if t := tenures[r.Handle]; t != nil && r.OK && (r.Effect == Remove || r.Effect == Take) {
			t.to = min(t.to, r.Return)
		}
	}
	for _, s := range spans {
		last := s.Call
		if s.Effect == Sweep {
			last = s.Return
		}
		for _, t := range all {
			if t.from <= last && t.to >= s.Call && !s.Met[t.handle] {
				h.Records = append(h.Records, Record{
					Thread: s.Thread, Verb: s.Verb, Effect: s.Effect, Handle: t.handle, Call: s.Call, Return: s.Return, Wide: true,
				})
			}
		}
	}
}

// part is the records of one handle.
type part struct {
	handle  Handle
	records []*Record // by call
}

// parts splits a history by handle, in order of handles.
func (h *History) parts() []part {
	by := make(map[Handle]*part)
	for i := range h.Records {
		r := &h.Records[i]
		if by[r.Handle] == nil {
			by[r.Handle] = &part{handle: r.Handle}
		}
		by[r.Handle].records = append(by[r.Handle].records, r)
	}
	all := make([]part, 0, len(by))
	for _, p := range by {
		slices.SortStableFunc(p.records, func(a, b *Record) int { return cmp.Compare(a.Call, b.Call) })
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b part) int { return cmp.Compare(a.handle, b.handle) })
	return all
}

// operations is the part as porcupine wants it.
func (p *part) operations() []porcupine.Operation {
	ops := make([]porcupine.Operation, len(p.records))
	for i, r := range p.records {
		ops[i] = porcupine.Operation{ClientId: r.Thread, Input: r, Call: r.Call, Return: r.Return}
	}
	return ops
}

// overlaps returns how many pairs of operations of two threads on the handle overlapped, and
// in how many of these at least one changed its life. Without any, the history tests
// nothing. Parts of long calls do not count, since almost everything overlaps them.
func (p *part) overlaps() (pairs, contended int) {
	for i, a := range p.records {
		if a.Wide {
			continue
		}
		for _, b := range p.records[i+1:] {
			if b.Call > a.Return {
				break
			}
			if b.Wide || a.Thread == b.Thread {
				continue
			}
			pairs++
			if a.changes() || b.changes() {
				contended++
			}
		}
	}
	return pairs, contended
}
