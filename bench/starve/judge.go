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
		isFull := i < len(full) && full[i].from <= f.to
		isTrue := isFull && !errors.Is(f.err, pool.ErrExhausted)
		if errors.Is(f.err, pool.ErrStalled) {
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
		at   time.Duration
		ends bool
	}
	changes := make([]change, 0, 2*len(spans))
	for _, s := range spans {
		changes = append(changes, change{s.from, false}, change{s.to, true})
	}
	slices.SortFunc(changes, func(a, b change) int {
		switch {
		case a.at != b.at:
			return cmp.Compare(a.at, b.at)
		case a.ends == b.ends:
			return 0
		case b.ends:
			return -1
		}
		return 1
	})
	under := 0
	for _, c := range changes {
		if c.ends {
			if under == n {
				full[len(full)-1].to = c.at
			}
			under--
			continue
		}
		if under++; under == n {
			full = append(full, span{from: c.at})
		}
	}
	return full
}
