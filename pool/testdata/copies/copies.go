// Package copies instantiates Pool.Get for values of six sizes and kinds.
// TestCopyIsLoadedBetweenLooks reads what the compiler makes of it.
package copies

import "coatcheck/pool"

func get[T any](p *pool.Pool[T], h pool.Handle[T]) (T, bool) { return p.Get(h) }

// Gets are the instances.
var Gets = []any{
	get[uint64], get[[8]uint64], get[[25]uint64], get[[1 << 13]uint64], get[string],
	get[struct {
		name string
		rest [23]uint64
		last any
	}],
}
