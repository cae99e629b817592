//go:build race || coatcheck_debug

package tree_test

// recorded says that the race detector watches, or that pools remember who did what:
// both allocate by themselves.
const recorded = true
