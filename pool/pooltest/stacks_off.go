//go:build !coatcheck_debug || interleave

package pooltest

// stacks says that pools know who did what.
const stacks = false
