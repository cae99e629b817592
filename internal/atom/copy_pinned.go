//go:build !((amd64 || 386 || arm64) && gc && !race) && !interleave

package atom

// CopiesWithoutPin is false on processors for which FenceLoads does nothing, although they may delay a
// load past later ones. It is also false under the race detector, which would report copies that a
// look-up discards, and must see the reads of those that it returns.
const CopiesWithoutPin = false
