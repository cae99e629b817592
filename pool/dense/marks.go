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
// any bit set:
//
//	above       …0100…         0        …1001…       a bit for each word below
//	words       0 … 0010…1 … 0              0 … 1000…     a bit for each position
//
// Adding costs one locked instruction, and one more for the first position of each word.
// Finding all n costs O(n), and a load for each 4,096 positions.
//
// A bit above is set after the bit below, so a concurrent reader could miss some. There
// is none: Refresh begins when all calls have returned, and a call returns only when both
// its bits are set. For the same reason a killer that finds a bit already set in its word
// leaves the one above to the killer that set the first.
type marks struct{ words, above []atom.Uint64 }

// makeMarks returns an empty set for positions below n. It takes one bit a position, and
// a bit more for every 64 of them.
func makeMarks(n int) marks {
	words := (n + 63) / 64
	return marks{make([]atom.Uint64, words), make([]atom.Uint64, (words+63)/64)}
}

// add adds position i and reports whether it was absent. Any number of goroutines may add
// at once; of those that add the same position, one gets true.
func (m *marks) add(i int) bool {
	at := uint(i) / 64
	word, bit := &m.words[at], uint64(1)<<(uint(i)%64)
	if word.Load()&bit != 0 {
		return false
	}
	// The goroutine whose Or turned the bit on sees it off in the result.
	before := word.Or(bit)
	if before == 0 {
		m.above[at/64].Or(1 << (at % 64))
	}
	return before&bit == 0
}

// remove removes position i. Nothing else may use the set meanwhile.
func (m *marks) remove(i int) { m.words[uint(i)/64].And(^(uint64(1) << (uint(i) % 64))) }

// has reports whether i is in the set.
func (m *marks) has(i int) bool { return m.words[uint(i)/64].Load()>>(uint(i)%64)&1 != 0 }

// nextAbsent returns the least position from i on that is not in the set.
func (m *marks) nextAbsent(i int) int {
	for ; i/64 < len(m.words); i = i&^63 + 64 {
		if rest := ^m.words[i/64].Load() >> (i % 64); rest != 0 {
			return i + bits.TrailingZeros64(rest)
		}
	}
	return i
}

// empty reports whether the set is empty.
func (m *marks) empty() bool {
	for range m.set {
		return false
	}
	return true
}

// set ranges over the words that have had any bit, in order. Bits that are added meanwhile
// may be missed.
func (m *marks) set(yield func(i int, word uint64) bool) {
	for a := range m.above {
		for above := m.above[a].Load(); above != 0; above &= above - 1 {
			i := a*64 + bits.TrailingZeros64(above)
			if !yield(i, m.words[i].Load()) {
				return
			}
		}
	}
}

// all ranges over the positions in the set, in order.
func (m *marks) all(yield func(i int) bool) {
	for i, word := range m.set {
		for ; word != 0; word &= word - 1 {
			if !yield(i*64 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}

// clear empties the set. Nothing else may use it meanwhile.
func (m *marks) clear() {
	for i := range m.set {
		m.words[i].Store(0)
	}
	for i := range m.above {
		if m.above[i].Load() != 0 {
			m.above[i].Store(0)
		}
	}
}
