//go:build coatcheck_debug && !interleave

package pooltest

import (
	"coatcheck/pool"
	"coatcheck/pool/internal/trace"
)

// stacks says whether pools record who did what.
const stacks = true

// youngest returns the number of what was opened last in p, and opened that in any pool.
func youngest[T any](p *pool.Pool[T]) uint64 { return trace.Youngest(p) }

func opened() uint64 { return trace.Opened() }
