package slots

import "math"

// Origins says with which generation each slot begins. With one for all, a handle that lost its last bits
// names another live value: all that tells slots apart is the index, and a float64 rounds it to a multiple of
// 1,024. Of 100,000 rounded handles of a new pool, 99,742 were accepted. So slots of a pool whose user did not
// choose the first generation begin far apart:
//
//	First(i) = 1 + (offset + step·i) mod 2^31        offset is drawn for each pool
//
// step is 2^31 over the golden ratio, as Knuth multiplies to hash (6.4). Then the generations of two slots
// whose indexes differ by less than 2,048 lie at least 298,489 lives apart (TestNeighborsBeginFarApart). A
// rounded handle is refused as long as the two slots have not been reused so much more often, the one than the
// other; beyond that, it is accepted by chance.
//
// The numbers are a sum, and not a hash of the index with a secret: a hash puts some two neighbours near each
// other, no later life is told apart, and handles are no secrets anyway. Besides, a program that has many
// handles can find out which pool they are of, as package codec does, which then writes each in a few bytes.
//
// Generations of different slots cannot be compared any more. What goes by the oldest slot of several goes by
// stages instead: how far a slot has come since its first generation.
//
//	generation   First-1   First   First+1   First+2   …
//	stage              0       1         2         3   …
//	              never used  live    vacant      live
//
// Its zero value is none.
type Origins struct {
	first  uint32 // the least first generation; odd
	offset uint32 // even; 0 if all begin with first
	step   uint32 // 0 if all begin with first
}

const (
	// goldenStep is even, so that generations stay odd, and half of it is odd: 2^30 slots that follow each
	// other begin with as many generations.
	goldenStep = 0x4F1BBCDA

	spreadMask = 1<<31 - 2
)

// OriginsOf returns those of a code: an odd one is the first generation of all slots, and an even one, up to
// spreadMask, the offset of slots that begin far apart.
func OriginsOf(code uint32) Origins {
	if code%2 == 1 {
		return Origins{first: code}
	}
	return Origins{first: 1, offset: code, step: goldenStep}
}

// IsOrigin reports whether there are Origins with a code.
func IsOrigin(code uint32) bool {
	if code%2 == 1 {
		return code <= LastGeneration
	}
	return code <= spreadMask
}

// DrawOrigin returns a code of slots that begin far apart, of any number.
func DrawOrigin(number uint32) uint32 { return number & spreadMask }

// First returns the generation of slot i's first life. Nothing else knows of it.
func (o *Origins) First(i uint32) uint32 { return o.first + o.spread(i) }

// spread returns how much later slot i begins than the least first generation.
func (o *Origins) spread(i uint32) uint32 { return (o.offset + o.step*i) & spreadMask }

// Latest returns a generation with which no slot begins later.
func (o *Origins) Latest() uint32 {
	if o.step == 0 {
		return o.first
	}
	return o.first + spreadMask
}

// Counterpart returns the generation of slot i at the stage at which slot j has a generation, if both are of one
// pool whose slots begin far apart, and that is below 2^31.
func Counterpart(i, j, generation uint32) uint32 {
	return (generation + goldenStep*(i-j)) & (spreadMask | 1)
}

// Generation returns the generation of slot i at a stage that it can reach.
func (o *Origins) Generation(i, stage uint32) uint32 { return o.First(i) - 1 + stage }

// Stage returns the stage of slot i that has a generation, of First−1 or more.
func (o *Origins) Stage(i, generation uint32) uint32 { return generation - (o.First(i) - 1) }

// StageOf returns the stage of slot i, whose word is word: 0 if it was never written.
func (o *Origins) StageOf(i uint32, word uint64) uint32 {
	if g := Generation(word); g != 0 {
		return o.Stage(i, g)
	}
	return 0
}

// SpentStage returns the stage at which slot i is exhausted.
func (o *Origins) SpentStage(i uint32) uint32 { return o.Stage(i, Spent) }

// Ranking orders handles by their stage, whatever slots they name, at the cost of a multiplication and an
// addition. To look at the page of each slot that is removed would make a pair of an insertion and a removal 1.6
// times as dear (package shard, skips.go).
type Ranking struct{ factor, addend uint64 }

// Ranking returns that of handles of these slots.
//
// It works out the stage without First: a word minus First−1 in its high half is the stage, with the index
// behind it. As First counts modulo 2^31, so does all of that, shifted by one bit. So after 2^30 lives a slot
// ranks as if it were new.
func (o *Origins) Ranking() Ranking {
	return Ranking{factor: 2 - uint64(o.step)<<33, addend: -(uint64(o.first-1) + uint64(o.offset)) << 33}
}

// Rank returns the rank of h, which is even.
func (r *Ranking) Rank(h uint64) uint64 { return h*r.factor + r.addend }

// RankBound returns a number that is above the ranks of all handles up to a stage.
func RankBound(stage uint32) uint64 {
	if stage >= 1<<31-1 {
		return math.MaxUint64
	}
	return uint64(stage+1) << 33
}

// LastStage returns the greatest stage in which each slot can live.
func (o *Origins) LastStage() uint32 { return LastGeneration - (o.Latest() - 1) }
