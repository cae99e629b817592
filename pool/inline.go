package pool

import (
	"coatcheck/epoch"
	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
	"coatcheck/shard"
)

// inlined makes the short functions that generic code of this package calls available for
// inlining to packages that instantiate it (see package atom). It is never called.
func inlined(a *atom.Uint32, b *atom.Uint64, c *atom.Int64, d *atom.Pointer[int], t *epoch.Domain) bool {
	words := shard.InlineWord(b.Load())
	atom.InlineRelease(b)
	atom.Between()
	atom.FenceLoads()
	return atom.InlineUint32(a) && atom.InlineUint64(b) && atom.InlineInt64(c) && atom.InlinePointer(d) &&
		words != 0 && shard.InlineRange(words) != 0 && shard.InlineUnlink(b) && shard.InlineMeta(nil) && hint.Index(hint.Goroutine(), 1) == 0 && t.Pin() != t.PinBrief() && t.Epoch() == 0
}

var _ = inlined
