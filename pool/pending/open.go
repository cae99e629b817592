package pending

import (
	"iter"
	"time"

	"coatcheck/pool"
)

// All returns an iterator over the outstanding calls, each with the time since its Start, for who
// asks what a program waits for. The ages are 0 unless Options.Ages is set, and of no use for a call
// that another bubble of testing/synctest has started.
//
// The order is that of the table. A call that is outstanding for the whole loop is yielded once, and
// one that starts or ends meanwhile at most once. The body may end calls:
//
//	for call, age := range calls.All() {
//		if age > limit {
//			call.Cancel()
//		}
//	}
//
// All reads every slot that has memory. Until the loop ends, the table uses no slot again that comes
// free.
func (c *Calls[T]) All() iter.Seq2[Call[T], time.Duration] {
	return func(yield func(Call[T], time.Duration) bool) {
		for h, w := range c.table().All() {
			k, age := Call[T]{*w, uint64(h)}, time.Duration(0)
			if !c.created.IsZero() {
				age = max(0, time.Since(c.created)-time.Duration(k.w.started.Load()))
			}
			// The waiter serves no other call before this one has ended. So if it is live now, since was
			// this call's.
			if k.live() && !yield(k, age) {
				return
			}
		}
	}
}

// OldestAge returns the time since the Start of the oldest outstanding call. It returns false if there
// is none, or if Options.Ages is not set. Like Stats it reads every slot that has memory, and
// poolhttp.RegisterSource shows what it returns.
func (c *Calls[T]) OldestAge() (oldest time.Duration, ok bool) {
	if c.table(); c.created.IsZero() {
		return 0, false
	}
	for _, age := range c.All() {
		oldest, ok = max(oldest, age), true
	}
	return oldest, ok
}

// Stats returns the figures of the table of calls. Live is the number of outstanding calls, and
// Refused… are the Starts that found no room. It reads every slot that has memory.
// poolhttp.RegisterSource shows them.
func (c *Calls[T]) Stats() pool.Stats { return c.table().Stats() }
