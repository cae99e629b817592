package dense

import (
	"math/rand/v2"

	"coatcheck/pool/internal/handle"
)

// line makes the slots of a restored Store jump by a random number of lives.
//
// After the snapshot, the original went on and issued handles. A copy that went on from the
// same generations would issue the same, for other values, and so would a second copy. So
// each slot of a copy jumps once, before it issues its first handle: over all lives that the
// original may have had since, by a number that another copy does not draw.
//
//	original   …● snapshot ○○○○○ at least LeastJump lives ○○○○○ | ○○○○ up to 1/500 of all
//	copy        ●                                                  ○ draws one of these
//
// Slots that waited or were new do so at once. A live one does so when it is reused for the first
// time, since its handle stays valid.
//
// The naive line has one number for all slots: two copies that draw the same then accept all of
// each other's handles.
type line struct {
	most uint32 // the most lives that a slot jumps

	// live has the slots that were live in the snapshot, and have kept their value since.
	live marks
	left int // how many these are
}

// newLine returns the line of a Store of so many slots, of which each has so many lives at least.
func newLine(lives uint32, slots int) *line {
	return &line{most: lives / handle.JumpShare, live: makeMarks(slots)}
}

// jump returns a later generation than g, or one beyond the last live one, which is last.
func (l *line) jump(g, last uint32) uint32 {
	step := l.draw()
	return min(g, last+2-step) + step
}

// draw returns how far a slot jumps. Slots that have fewer than JumpShare·LeastJump lives in all jump less far.
func (l *line) draw() uint32 {
	least := uint32(handle.LeastJump)
	if l.most < handle.LeastJump {
		least = l.most / 2
	}
	return 2 * (least + rand.Uint32N(l.most-least+1))
}

// keep notes that a slot was live in the snapshot.
func (l *line) keep(index uint32) {
	l.live.add(int(index))
	l.left++
}

// leave returns the generation after which a slot is reused, which a value leaves at g: a later
// one if it was live in the snapshot.
func (l *line) leave(index, g uint32) uint32 {
	if i := int(index); i < 64*len(l.live.words) && l.live.has(i) {
		l.live.remove(i)
		l.left--
		return min(l.jump(g, handle.Last), handle.Last)
	}
	return g
}
