package dense

import (
	"math/rand/v2"

	"coatcheck/pool/internal/handle"
)

// line makes each slot of a restored Store jump over a random number of lives, so that the copy issues
// handles of its own.
//
// After the snapshot, the original went on and issued handles. A copy that went on from the same
// generations would issue the same handles for other values, and so would a second copy. So each slot of
// a copy jumps once, before it issues its first handle. It jumps over all lives that the original may
// have had since, by a number that another copy will hardly draw.
//
//	original   …● snapshot ○○○○○ at least LeastJump lives ○○○○○ | ○○○○ up to 1/500 of all
//	copy        ●                                                  ○ draws one of these
//
// Slots that waited, and those to come, jump when the copy is made. A slot that was live has to keep its
// handle valid, so it jumps when its value goes.
//
// The naive line draws one number for all slots. Two copies that draw the same one accept all of each
// other's handles.
type line struct {
	limit uint32 // the greatest number of lives that a slot jumps over

	// live has the indexes of the slots that still have their value of the snapshot.
	live      marks
	liveCount int // how many these are
}

// newLine returns the line of a Store that has so many slots. Each slot has at least so many lives.
func newLine(lives uint32, slots int) *line {
	return &line{limit: lives / handle.JumpShare, live: makeMarks(slots)}
}

// jump returns a later generation than g. If the jump leads beyond last, which is odd, it returns
// last + 2.
func (l *line) jump(g, last uint32) uint32 {
	step := l.draw()
	return min(g, last+2-step) + step
}

// draw returns by how many generations a slot jumps: two for each life. If slots have fewer than
// JumpShare·LeastJump lives, the jump may be shorter than LeastJump.
func (l *line) draw() uint32 {
	shortest := uint32(handle.LeastJump)
	if l.limit < handle.LeastJump {
		shortest = l.limit / 2
	}
	return 2 * (shortest + rand.Uint32N(l.limit-shortest+1))
}

// keep notes that a slot has its value of the snapshot.
func (l *line) keep(index uint32) {
	l.live.add(int(index))
	l.liveCount++
}

// lastGeneration returns the generation after which a slot will be used again, when a value of generation
// g leaves it: g, or a later one if the slot has to jump.
func (l *line) lastGeneration(index, g uint32) uint32 {
	if i := int(index); i < 64*len(l.live.words) && l.live.contains(i) {
		l.live.remove(i)
		l.liveCount--
		return min(l.jump(g, handle.Last), handle.Last)
	}
	return g
}
