package linearize

import (
	"fmt"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// patience is the time limit of the checker for one handle. It usually takes microseconds.
const patience = time.Minute

// Work counts what was judged.
type Work struct {
	Histories int
	Handles   int
	Records   int // operations on one handle
	Pairs     int // pairs of these, of two threads, that overlapped
	Contended int // pairs of which at least one changed the handle's life
	Full      int // insertions that found no slot
	Effects   [Sweep + 1]int
}

// Add adds o to w.
func (w *Work) Add(o Work) {
	w.Histories += o.Histories
	w.Handles += o.Handles
	w.Records += o.Records
	w.Pairs += o.Pairs
	w.Contended += o.Contended
	w.Full += o.Full
	for e := range w.Effects {
		w.Effects[e] += o.Effects[e]
	}
}

func (w *Work) String() string {
	return fmt.Sprintf("%d histories, %d handles, %d operations on one handle, %d pairs of them at the same time, %d of which contended, %d insertions found no slot",
		w.Histories, w.Handles, w.Records, w.Pairs, w.Contended, w.Full)
}

// Refutation is a history without an explanation.
type Refutation struct {
	History *History
	Reason  string
	part    *part // nil if the reason is not one handle's life
}

// Judge returns a Refutation if the history has no explanation.
func (h *History) Judge() (Work, *Refutation) {
	w := Work{Histories: 1, Records: len(h.Records), Full: h.Full}
	for i := range h.Records {
		if r := &h.Records[i]; r.OK || r.Effect == Sweep {
			w.Effects[r.Effect]++
		}
	}
	if len(h.Problems) > 0 {
		return w, &Refutation{h, strings.Join(h.Problems, "\n"), nil}
	}
	parts := h.parts()
	w.Handles = len(parts)
	for i := range parts {
		p := &parts[i]
		pairs, contended := p.overlaps()
		w.Pairs += pairs
		w.Contended += contended
		if err := p.explain(); err != nil {
			return w, &Refutation{h, err.Error(), p}
		}
	}
	if err := h.count(); err != nil {
		return w, &Refutation{h, err.Error(), nil}
	}
	return w, nil
}

// explain asks the checker for an order of the part's operations.
func (p *part) explain() error {
	switch porcupine.CheckOperationsTimeout(model, p.operations(), patience) {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return fmt.Errorf("no explanation of the life of %v was found within %v", p.handle, patience)
	}
	return fmt.Errorf("the life of %v has no explanation", p.handle)
}

// Error returns the reason and the handle's records, by the time of the calls.
func (r *Refutation) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %s\n", r.History.Plan, r.Reason)
	if r.part != nil {
		fmt.Fprintf(&b, "%6s %6s %6s\n", "call", "return", "thread")
		for _, rec := range r.part.records {
			fmt.Fprintf(&b, "%6d %6d %6d  %v\n", rec.Call, rec.Return, rec.Thread, rec)
		}
	}
	return b.String()
}
