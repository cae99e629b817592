//go:build (amd64 || 386 || arm64) && gc && !race && !interleave

package atom

// CopiesWithoutPin reports whether a look-up may copy a value between two loads of the slot's word,
// without a pin. The second load must come after all loads of the copy (L12). The compiler moves no
// load past an atomic one or a call of assembly, and FenceLoads stops the processor.
const CopiesWithoutPin = true
