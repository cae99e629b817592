//go:build (amd64 || 386) && gc && !race && !interleave

package pool

// copiesWithoutPin reports whether Get copies a value between two loads of the slot's word,
// without a pin. The second load must come after all loads of the copy (L12). The compiler
// moves no load past an atomic one, and the processor keeps loads in order.
const copiesWithoutPin = true
