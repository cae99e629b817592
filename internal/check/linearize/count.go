package linearize

import (
	"cmp"
	"fmt"
	"slices"

	"coatcheck/shard"
)

// count checks what concerns several handles.
func (h *History) count() error {
	// A history ends with a Drain, beside which no other operation runs.
	if h.Published != h.Removed {
		return fmt.Errorf("%d values went live, and %d were removed", h.Published, h.Removed)
	}
	if err := h.issued(); err != nil {
		return err
	}
	return h.crowd()
}

// issued checks that every issued handle has a possible index and generation.
func (h *History) issued() error {
	slots := h.Plan.Layout.Capacity
	for i := range h.Records {
		switch r := &h.Records[i]; r.Effect {
		case Reserve, Insert:
			g := r.Handle.Generation()
			if g%2 == 0 || g < h.Plan.origin() || g > shard.LastGeneration {
				return fmt.Errorf("%v: no value lives in this generation", r)
			}
			if slots > 0 && uint64(r.Handle.Index()) >= uint64(slots) {
				return fmt.Errorf("%v: there are %d slots", r, slots)
			}
		}
	}
	return nil
}

// crowd checks that never more values than Capacity were surely live. A value is surely
// live from the return of its insertion to the first call that may have removed it.
func (h *History) crowd() error {
	capacity := h.Plan.Layout.Capacity
	if capacity == 0 {
		return nil
	}
	type change struct {
		at    int64
		delta int
	}
	var changes []change
	for _, p := range h.parts() {
		from, to := p.surely()
		if from < to {
			changes = append(changes, change{from, 1}, change{to, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	live := 0
	for _, c := range changes {
		if live += c.delta; live > capacity {
			return fmt.Errorf("at time %d, %d values were live in a pool of capacity %d", c.at, live, capacity)
		}
	}
	return nil
}

// surely returns the time in which the part's handle was surely live.
func (p *part) surely() (from, to int64) {
	const never = 1<<63 - 1
	from, to = never, never
	for _, r := range p.records {
		if r.Effect == Insert || r.Effect == Commit {
			from = r.Return
		}
		if r.Effect == Sweep || r.OK && (r.Effect == Remove || r.Effect == Take) {
			to = min(to, r.Call)
		}
	}
	return from, to
}
