package dense

import (
	"coatcheck/internal/atom"
	"coatcheck/pool/internal/handle"
)

// inlined makes the bodies of short functions that this package's generic code calls
// available to packages that instantiate it (see package atom). Nothing calls it.
func inlined(a *atom.Uint32, b *atom.Uint64, d *atom.Pointer[int]) bool {
	return atom.InlineUint32(a) && atom.InlineUint64(b) && atom.InlinePointer(d) && atom.InlineBits(b) &&
		handle.Inline(b.Load())
}

var _ = inlined
