//go:build interleave

package shard

// Contents is what a shard's lists begin with: for the invariants that are
// checked where schedules are explored, between two steps of one run.
type Contents struct {
	Free, Fresh, Limbo uint64 // the words
	Top, Turned        uint32 // the sealed batch
	Sealed             uint32
	Held               bool // the token
	Credit             int64
}

// Inspect returns the shard's contents.
func (s *Shard[T]) Inspect() Contents {
	return Contents{
		Free: s.free.Load(), Fresh: s.fresh.Load(), Limbo: s.limbo.Load(),
		Top: s.sealed.top, Turned: s.sealed.turned, Sealed: s.sealed.n,
		Held: s.token.Load() != 0, Credit: s.credit.Load(),
	}
}
