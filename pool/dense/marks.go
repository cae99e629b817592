package dense

import (
	"math/bits"

	"coatcheck/internal/atom"
)

// marks is a set of positions: the values killed in a phase. Goroutines add to it
// concurrently; Refresh alone then reads it in order.
//
// A list of the dead would be in the order of their deaths and would have to be sorted,
// and all killers would contend for its head. A plain bitmap is in order, and killers of
// different values mostly write different cache lines. But finding the few bits that are
// set means searching all of it. So a second bitmap says which words of the first have
// any bit set, and so on up to a single word:
//
//	levels[2]                       1
//	levels[1]        …0100…         0        …1001…       a bit for each word below
//	levels[0]   0 … 0010…1 … 0              0 … 1000…     a bit for each position
//
// Adding costs one locked instruction, and one more for the first position of each word.
// Finding all n costs O(n), whatever the size, if the depth counts as a constant: it is 4
// for 16 million positions, and 6 at most.
//
// A bit above is set after the bit below, so a concurrent reader could miss some. There
// is none: Refresh begins when all calls have returned, and a call returns only when its
// bits are set on all levels. For the same reason a killer that finds a bit already set
// in its word leaves the levels above to the killer that set the first one.
type marks struct {
	levels [maxLevels][]atom.Uint64
	depth  int
}

// maxLevels is enough for 2^32 positions, since 64^6 is more.
const maxLevels = 6

// makeMarks returns an empty set for positions below n. It takes one bit a position, and
// a bit more for every 63 of them.
func makeMarks(n int) (m marks) {
	sum := 0
	var sizes [maxLevels]int
	for {
		n = (n + 63) / 64
		sizes[m.depth] = n
		sum += n
		m.depth++
		if n <= 1 {
			break
		}
	}
	words := make([]atom.Uint64, sum)
	for l, size := range sizes[:m.depth] {
		m.levels[l], words = words[:size:size], words[size:]
	}
	return m
}

// add adds position i and reports whether it was absent. Any number of goroutines may add
// at once; of those that add the same position, one gets true.
func (m *marks) add(i int) bool {
	word, bit := &m.levels[0][uint(i)/64], uint64(1)<<(uint(i)%64)
	if word.Load()&bit != 0 {
		return false
	}
	// The goroutine whose Or turned the bit on sees it off in the result.
	before := word.Or(bit)
	if before == 0 {
		m.addAbove(uint(i) / 64)
	}
	return before&bit == 0
}

// addAbove records in the levels above that word i of the lowest has a bit.
func (m *marks) addAbove(i uint) {
	for l := 1; l < m.depth; l++ {
		if m.levels[l][i/64].Or(1<<(i%64)) != 0 {
			return
		}
		i /= 64
	}
}

// remove removes position i. Nothing else may use the set meanwhile. The levels above may
// still say that i's word has a bit, which costs a later visit.
func (m *marks) remove(i int) { m.levels[0][uint(i)/64].And(^(uint64(1) << (uint(i) % 64))) }

// has reports whether i is in the set.
func (m *marks) has(i int) bool {
	return m.levels[0][uint(i)/64].Load()>>(uint(i)%64)&1 != 0
}

// nextAbsent returns the least position from i on that is not in the set.
func (m *marks) nextAbsent(i int) int {
	for words := m.levels[0]; i/64 < len(words); i = i&^63 + 64 {
		if rest := ^words[i/64].Load() >> (i % 64); rest != 0 {
			return i + bits.TrailingZeros64(rest)
		}
	}
	return i
}

// empty reports whether the set is empty. It loads one word.
func (m *marks) empty() bool {
	top := m.levels[m.depth-1]
	return len(top) == 0 || top[0].Load() == 0
}

// words ranges over the words of the lowest level that have any bit, in order. Bits that
// are added meanwhile may be missed.
func (m *marks) words(yield func(i int, word uint64) bool) {
	if !m.empty() {
		m.walk(m.depth-1, 0, yield)
	}
}

func (m *marks) walk(level, i int, yield func(int, uint64) bool) bool {
	word := m.levels[level][i].Load()
	if level == 0 {
		return yield(i, word)
	}
	for ; word != 0; word &= word - 1 {
		if !m.walk(level-1, i*64+bits.TrailingZeros64(word), yield) {
			return false
		}
	}
	return true
}

// all ranges over the positions in the set, in order.
func (m *marks) all(yield func(i int) bool) {
	m.words(func(i int, word uint64) bool {
		for ; word != 0; word &= word - 1 {
			if !yield(i*64 + bits.TrailingZeros64(word)) {
				return false
			}
		}
		return true
	})
}

// clear empties the set, in time proportional to its length. Nothing else may use it
// meanwhile.
func (m *marks) clear() {
	if !m.empty() {
		m.clearBelow(m.depth-1, 0)
	}
}

func (m *marks) clearBelow(level, i int) {
	w := &m.levels[level][i]
	if level > 0 {
		for word := w.Load(); word != 0; word &= word - 1 {
			m.clearBelow(level-1, i*64+bits.TrailingZeros64(word))
		}
	}
	w.Store(0)
}
