//go:build coatcheck_debug && !interleave

package pooltest

// stacks says whether pools record who did what.
const stacks = true
