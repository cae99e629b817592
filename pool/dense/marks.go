package dense

import (
	"math/bits"

	"coatcheck/internal/atom"
)

// marks is a set of positions, which grows from many goroutines at once and is then
// read in order by one: the values that were killed in a phase.
//
// A list of the dead would be read in the order of their deaths, so it would have to
// be sorted, and its head would be a word that all killers fight for. A plain bitmap
// is in order, and killers of different values mostly write different cache lines;
// but it must be searched from end to end for the few bits that are set. So there is
// a bitmap above the bitmap, which says which of its words have any bit, and so on up
// to a single word:
//
//	levels[2]                       1
//	levels[1]        …0100…         0        …1001…       a bit for each word below
//	levels[0]   0 … 0010…1 … 0              0 … 1000…     a bit for each position
//
// Adding costs one locked instruction, and one more for the first position of each
// word. Finding all n costs O(n), whatever the size, as long as the depth counts for
// a constant: it is 4 for 16 million positions, and 6 at most.
//
// The bits above are set after those below. A reader in between would miss some;
// there is none, because Refresh comes when all calls have returned, and a call
// returns only when its bits are set all the way. For the same reason a killer that
// finds its word set already may leave the words above to whoever set the first bit.
type marks struct {
	levels [maxLevels][]atom.Uint64
	depth  int
}

// maxLevels is enough for 2^32 positions: 64^6 is more.
const maxLevels = 6

// makeMarks returns an empty set for positions below n. It takes one bit a position,
// and a bit in 63 of them more.
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

// add adds position i and answers whether it was new. Any number of goroutines may
// add at once; one of those that add the same position gets true.
func (m *marks) add(i int) bool {
	word, bit := &m.levels[0][uint(i)/64], uint64(1)<<(uint(i)%64)
	if word.Load()&bit != 0 {
		return false
	}
	// The bit that Or turned on belongs to who finds it off in what Or returns.
	before := word.Or(bit)
	if before == 0 {
		m.addAbove(uint(i) / 64)
	}
	return before&bit == 0
}

// addAbove notes that word i of the lowest level has a bit.
func (m *marks) addAbove(i uint) {
	for l := 1; l < m.depth; l++ {
		if m.levels[l][i/64].Or(1<<(i%64)) != 0 {
			return
		}
		i /= 64
	}
}

// remove removes position i. Nobody else may use the set meanwhile. The words above may
// go on saying that there is something in i's word, which costs a look.
func (m *marks) remove(i int) { m.levels[0][uint(i)/64].And(^(uint64(1) << (uint(i) % 64))) }

// has answers whether i is in the set.
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

// empty answers whether the set is empty. It looks at one word.
func (m *marks) empty() bool {
	top := m.levels[m.depth-1]
	return len(top) == 0 || top[0].Load() == 0
}

// words ranges over the words of the lowest level that have any bit, in order. Those
// that others add meanwhile may be missed.
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

// count returns how many positions are in the set.
func (m *marks) count() (n int) {
	for _, word := range m.words {
		n += bits.OnesCount64(word)
	}
	return n
}

// clear empties the set, in time proportional to what is in it. Nobody else may use
// it meanwhile.
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

// fill adds all positions below n. Nobody else may use the set meanwhile.
func (m *marks) fill(n int) {
	for l := range m.depth {
		level := m.levels[l]
		for i := range n / 64 {
			level[i].Store(1<<64 - 1)
		}
		if n%64 != 0 {
			level[n/64].Or(1<<(n%64) - 1)
		}
		n = (n + 63) / 64
	}
}
