package dense

import (
	"coatcheck/internal/atom"
	"coatcheck/internal/handle"
)

// inlined makes this package hand on the bodies of short functions that its generic code
// calls to the packages that instantiate it (see package atom). Nobody calls it.
func inlined(a *atom.Uint32, b *atom.Uint64, d *atom.Pointer[int]) bool {
	return atom.InlineUint32(a) && atom.InlineUint64(b) && atom.InlinePointer(d) && b.Or(1)&b.And(1) != 0 &&
		handle.Inline(b.Load())
}

var _ = inlined
