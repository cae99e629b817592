package dense

import (
	"math/bits"

	"coatcheck/internal/atom"
)

// marks is a set of offsets in a part: those of the values that were killed in this phase. Any number of
// goroutines add to it at once. Refresh, which is alone, reads it in order.
//
// The naive set is a list of the dead. Refresh would have to sort it, since it is in the order of the
// kills, and all killers would contend for its head. A bitmap is in order, and killers of different values
// mostly write different cache lines. But to find the few bits that are set, Refresh would search all of
// it. So a second bitmap tells which words of the first have had a bit:
//
//	summary     …0100…         0        …1001…       a bit for each word
//	words       0 … 0010…1 … 0              0 … 1000…     a bit for each offset
//
// To add an offset costs one locked instruction, and one more if it is the first of its word. To find n
// offsets costs O(n), and a load for each 4,096 offsets.
//
// A killer sets its bit in the summary after that in the word. Refresh misses none, although it may not
// see them in that order: it begins when all kills have returned, and these set both bits before. If a
// killer finds another bit in its word, it leaves the summary to the killer that set the first.
type marks struct{ words, summary []atom.Uint64 }

// makeMarks returns an empty set for n offsets. It takes a bit for each, and one more for each 64.
func makeMarks(n int) marks {
	words := (n + 63) / 64
	return marks{make([]atom.Uint64, words), make([]atom.Uint64, (words+63)/64)}
}

// add adds offset i, and reports whether it was absent. If several goroutines add the same offset at once,
// one of them gets true.
func (m *marks) add(i int) bool {
	w := uint(i) / 64
	word, bit := &m.words[w], uint64(1)<<(uint(i)%64)
	if word.Load()&bit != 0 {
		return false
	}
	// Or returns the word from before: the bit is off for the one goroutine that turned it on.
	old := word.Or(bit)
	if old == 0 {
		m.summary[w/64].Or(1 << (w % 64))
	}
	return old&bit == 0
}

// remove removes offset i. Nothing else may use the set meanwhile.
func (m *marks) remove(i int) { m.words[uint(i)/64].And(^(uint64(1) << (uint(i) % 64))) }

// contains reports whether offset i is in the set.
func (m *marks) contains(i int) bool { return m.words[uint(i)/64].Load()>>(uint(i)%64)&1 != 0 }

// nextAbsent returns the least offset from i on that is not in the set.
func (m *marks) nextAbsent(i int) int {
	for ; i/64 < len(m.words); i = i&^63 + 64 {
		if absent := ^m.words[i/64].Load() >> (i % 64); absent != 0 {
			return i + bits.TrailingZeros64(absent)
		}
	}
	return i
}

// empty reports whether the set is empty.
func (m *marks) empty() bool {
	for range m.usedWords {
		return false
	}
	return true
}

// usedWords ranges over the words that have had a bit, in order, each with its number. It may miss bits
// that are added meanwhile.
func (m *marks) usedWords(yield func(i int, word uint64) bool) {
	for a := range m.summary {
		for marked := m.summary[a].Load(); marked != 0; marked &= marked - 1 {
			i := a*64 + bits.TrailingZeros64(marked)
			if !yield(i, m.words[i].Load()) {
				return
			}
		}
	}
}

// offsets ranges over the set, in order.
func (m *marks) offsets(yield func(i int) bool) {
	for i, word := range m.usedWords {
		for ; word != 0; word &= word - 1 {
			if !yield(i*64 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}

// clear empties the set. Nothing else may use it meanwhile.
func (m *marks) clear() {
	for i := range m.usedWords {
		m.words[i].Store(0)
	}
	for i := range m.summary {
		if m.summary[i].Load() != 0 {
			m.summary[i].Store(0)
		}
	}
}
