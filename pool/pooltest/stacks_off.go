//go:build !coatcheck_debug || interleave

package pooltest

import "coatcheck/pool"

// stacks says whether pools record who did what.
const stacks = false

func youngest[T any](*pool.Pool[T]) uint64 { return 0 }

func opened() uint64 { return 0 }

func written[T any](*pool.Pool[T]) string { return "" }
