//go:build interleave

package pool

// copiesWithoutPin is set by each scenario, so that both forms of Get are explored.
var copiesWithoutPin bool
