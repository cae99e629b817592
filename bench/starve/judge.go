package main

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"coatcheck/pool"
)

// span is an interval of time.
type span struct{ from, to time.Duration }

// refusal is an insertion that was refused.
type refusal struct {
	span
	err error
}

// falsely returns the false refusals, by the rule in the package's comment.
func (r *run) falsely(tenures []span, refusals []refusal) (found []refusal) {
	if len(refusals) == 0 {
		return nil
	}
	full := moments(tenures, r.capacity)
	for _, f := range refusals {
		// The first full moment that ends no earlier than the refusal begins.
		i, _ := slices.BinarySearchFunc(full, f.from, func(s span, from time.Duration) int { return cmp.Compare(s.to, from) })
		isTrue := i < len(full) && full[i].from <= f.to
		switch {
		case errors.Is(f.err, pool.ErrExhausted):
			isTrue = false
		case errors.Is(f.err, pool.ErrStalled):
			isTrue = r.guards > 0
		}
		if !isTrue {
			found = append(found, f)
		}
	}
	return found
}

// moments returns the intervals in which at least n spans overlap, in order.
func moments(spans []span, n int) (full []span) {
	type change struct {
		at time.Duration
		by int // 1 at the beginning of a span, -1 at its end
	}
	var changes []change
	for _, s := range spans {
		changes = append(changes, change{s.from, 1}, change{s.to, -1})
	}
	// Of changes at the same time, beginnings come first: spans that touch overlap.
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), b.by-a.by) })
	under := 0
	for _, c := range changes {
		if under == n && c.by < 0 {
			full[len(full)-1].to = c.at
		}
		if under += c.by; under == n && c.by > 0 {
			full = append(full, span{from: c.at})
		}
	}
	return full
}
