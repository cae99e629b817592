package epoch

import (
	"unsafe"

	"coatcheck/internal/atom"
	"coatcheck/internal/cost"
	"coatcheck/internal/hint"
)

// block has the cells of guards that found none among the first ones. Each block is at least
// twice as long as the one before, and pins use the newest one. So there are few blocks, and a
// pin that finds the newest full does not search the others.
//
// The naive way is one list of cells that every scan visits. Then ten thousand guards, long
// unpinned, made each removal twenty times slower. Here a scan visits a group of cells only if
// its mark says so.
type block struct {
	cells []cell // length is a power of two
	// marks are the levels of a tree. marks[0][i] stands for the cells from i*fan on, and
	// marks[k][i] for the marks of the level below from i*fan on. The last level is one mark.
	marks [][]mark
	older *block // the block before; constant
	_     [72]byte

	// salt and a pin's hint choose where the pin looks for a cell. While salt stays, a
	// goroutine finds the cell that it had before.
	//
	//	writers  pin, when it has found the cells taken where it looked
	//	readers  pin
	//	moves    +1, and wraps; a hint, which correctness does not depend on
	salt atom.Uint32

	// groups counts the marks of the first level that are not clear.
	//
	//	writers  announce and visitMark, after the mark
	//	readers  Scanned
	groups atom.Int64
	_      [112]byte
}

// newBlock makes a block of n cells, a power of two. Its caller publishes it as the newest.
func newBlock(n int, older *block) *block {
	b := &block{cells: make([]cell, n), older: older}
	for {
		n = (n + fan - 1) / fan
		b.marks = append(b.marks, make([]mark, n))
		if n == 1 {
			return b
		}
	}
}

// begin makes the cells of a new block begin with the second sequence.
func (b *block) begin() {
	for i := range b.cells {
		b.cells[i].word.Store(1 << kindBits)
	}
}

// pin tries probes cells at each of rounds places.
func (b *block) pin(index uint32, e, kind uint64) (Guard, bool) {
	mask := uint32(len(b.cells) - 1)
	for range rounds {
		salt := b.salt.Load()
		h := mix(index + salt*saltFactor)
		i, step := uint32(hint.Index(h, len(b.cells))), h|1 // odd: no cell comes twice
		for range probes {
			if g, ok := b.cells[i&mask].claim(e, kind); ok {
				b.announce(int(i & mask))
				return g, true
			}
			i += step
		}
		b.salt.CompareAndSwap(salt, salt+1) // failure: another pin has moved on
	}
	return Guard{}, false
}

// saltFactor is the salt's own. With the factor of hint.Goroutine, one goroutine's next
// salt would be its neighbour's hint. Then the second would try only the cells that the first
// has filled.
const saltFactor = 0xCC9E2D51

// mix hashes the sum of a hint and a salt, by the last step of MurmurHash3. Without it, the places of
// one salt and those of a later one would be the same cells in the same order. Then a run of
// guards that stay pinned would seem to fill the block.
func mix(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85EBCA6B
	h = (h ^ h>>13) * 0xC2B2AE35
	return h ^ h>>16
}

// bytes returns the memory that the block takes.
func (b *block) bytes() int64 {
	n := int64(unsafe.Sizeof(*b)) + int64(len(b.cells))*int64(unsafe.Sizeof(cell{}))
	for _, level := range b.marks {
		n += int64(unsafe.Sizeof(level)) + int64(len(level))*int64(unsafe.Sizeof(mark{}))
	}
	return n
}

// A mark says whether a scan must visit a group: the cells that it stands for, or the marks
// below it. A scan that finds nothing in a group clears its mark. So a scan costs what is
// pinned, not what was once pinned.
//
// Unpin does not touch marks, and a Pin that finds them set only loads them. With counts of claimed cells
// instead, each would write one. The rule is (DESIGN.md, L3):
//
//	a mark is not clear while a guard below it is pinned and has read anything
//
// The naive scan clears the mark of a group that it found idle. But a guard may claim a cell
// that the scan has passed, and find the mark still set. The scan then clears the mark, and
// the next scan does not see the guard. So a scan first marks the group doubted, and then
// looks again:
//
//	Pin                        scan
//	claims the cell            finds all idle
//	loads the mark:            set → doubted
//	  set: it may read         looks again: a guard that found the mark
//	  else: sets it              set had claimed its cell before
//	reads                      all idle: doubted → clear
//
// A guard that comes while the mark is doubted sets it, so the scan's last compare-and-swap
// fails. Marks are set from the cell upwards, and cleared in the same order.
//
//	word     changes | state
//	writers  raise, for a pin; visitMark, for a scan
//	readers  raise and visitMark
//	moves    clear → set → doubted → clear, doubted → set, doubted → doubted;
//	         each counts a change, so no word comes back
//	orders   found or made set, it announces the pin to scans (P4); cleared, it
//	         publishes that the guards below have gone (P5)
type mark struct{ word atom.Uint64 }

const (
	isClear = iota
	isSet
	isDoubted

	stateMask = 3
)

// changed returns the word that follows word, with another state.
func changed(word, state uint64) uint64 { return (word | stateMask) + 1 + state }

// raise sets the mark, and reports whether it was clear. Failure of the compare-and-swap means
// that another pin has set the mark, or that a scan has changed it.
func (m *mark) raise() bool {
	for {
		word := m.word.Load()
		if word&stateMask == isSet {
			return false // publishes (P4) as well: no scan is about to clear it
		}
		if m.word.CompareAndSwap(word, changed(word, isSet)) { // publishes (P4)
			return word&stateMask == isClear
		}
	}
}

// announce sets the marks of cell i, which the caller has claimed before it reads anything.
// Lower marks come first, because a scan clears a mark when the marks below it are clear.
//
// The wrong version stops at a mark that is set. The pin that has set it may be preempted before it sets
// those above, and a scan would pass over the guard.
func (b *block) announce(i int) {
	for k, level := range b.marks {
		i /= fan
		if level[i].raise() && k == 0 {
			b.groups.Add(1)
		}
	}
}

func (p *Pins) add(c *cell, word uint64) {
	e := epochOf(word)
	p.Count++
	if e < p.Oldest {
		p.Oldest, p.cell, p.word = e, &c.word, word
	}
	if !isTransient(word) {
		p.OldestGuard = min(p.OldestGuard, e)
	}
}

// visit adds the active cells, and reports whether there are none.
func (p *Pins) visit(cells []cell) bool {
	idle := true
	cost.Cells(len(cells))
	for i := range cells {
		// Observes (P4) of guards that are pinned, and (P5) of those that were.
		if word := cells[i].word.Load(); isActive(word) {
			p.add(&cells[i], word)
			idle = false
		}
	}
	return idle
}

// visitMark adds the active cells below mark i of a level. If it finds none, it clears the
// mark. It reports whether the mark is clear.
func (p *Pins) visitMark(b *block, level, i int) bool {
	cost.Cells(1)
	m := &b.marks[level][i]
	word := m.word.Load()
	if word&stateMask == isClear {
		return true // observes (P5); a guard that is pinned here has not read anything yet
	}
	if !p.visitBelow(b, level, i) {
		return false
	}
	doubt := changed(word, isDoubted)
	if !m.word.CompareAndSwap(word, doubt) || !p.visitBelow(b, level, i) {
		return false // a guard has come, or another scan is clearing the mark
	}
	// Success proves that no guard has set the mark since it was doubted. So all guards that
	// have read anything had announced themselves before, and have gone.
	if !m.word.CompareAndSwap(doubt, changed(doubt, isClear)) { // publishes (P5)
		return false
	}
	if level == 0 {
		b.groups.Add(-1)
	}
	return true
}

// visitBelow adds the active cells in the group of a mark. It reports whether there is
// nothing: no active cell, or no mark that is not clear.
func (p *Pins) visitBelow(b *block, level, i int) bool {
	start := i * fan
	if level == 0 {
		return p.visit(b.cells[start:min(start+fan, len(b.cells))])
	}
	idle := true
	for k := start; k < min(start+fan, len(b.marks[level-1])); k++ {
		if !p.visitMark(b, level-1, k) {
			idle = false
		}
	}
	return idle
}
