package shard

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"coatcheck/internal/atom"
)

// stalled is ErrStalled of an arena, whose figures its text has. It is one pointer, so a
// refusal allocates nothing.
type stalled[T any] struct{ arena *Arena[T] }

func (e stalled[T]) Unwrap() error { return ErrStalled }

// Error has the figures of the moment at which it is called. By then a guard may have gone.
func (e stalled[T]) Error() string {
	a, pins, waiting := e.arena, e.arena.Domain.Scan(), e.arena.Waiting()
	return fmt.Sprintf("%v; waiting: %d, limit: %d; pinned: %d, the oldest for at least %v; Refs: %d; Pool.ExplainOpen tells more",
		ErrStalled, waiting, a.limit(int64(a.Table.Resident()-waiting)), pins.Count, a.Domain.Age(pins).Truncate(time.Millisecond), a.Held())
}

// defaultLimbo is the least value of MaxLimbo's default.
const defaultLimbo = 1_000_000

// limit returns how many slots may wait before new memory is refused, if so many are live.
func (a *Arena[T]) limit(live int64) int64 {
	n := cmp.Or(a.MaxLimbo, max(defaultLimbo, 2*live))
	if a.Capacity > 0 {
		n = min(n, int64(a.Capacity))
	}
	return n
}

// refusals counts the calls that were refused, by the error.
type refusals struct{ full, stalled, exhausted atom.Int64 }

// counted counts a refusal, if err is one, and returns it.
func (a *Arena[T]) counted(err error) error {
	switch {
	case err == nil:
	case errors.Is(err, ErrStalled):
		a.refusals.stalled.Add(1)
	case errors.Is(err, ErrExhausted):
		a.refusals.exhausted.Add(1)
	default:
		a.refusals.full.Add(1)
	}
	return err
}
