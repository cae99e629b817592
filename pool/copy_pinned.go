//go:build !((amd64 || 386 || arm64) && gc && !race) && !interleave

package pool

// copiesWithoutPin is false on processors for which atom.FenceLoads does nothing, although they
// may delay a load past later ones. It is also false under the race detector, which would
// report copies that Get discards, and must see the reads of those that it returns.
const copiesWithoutPin = false
