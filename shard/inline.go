package shard

// InlineWord has the helpers of word.go and limbo.go inlined in it, so that a
// package that names it hands their bodies on to those who instantiate this
// package's generic code (see package atom).
func InlineWord(w uint64) uint64 {
	if IsLive(w) {
		return Vacated(Reborn(w), Low(w))
	}
	return pushed(w, Generation(w), Low(Pack(1, 2)))
}
