package pool

import (
	"math"

	"coatcheck/pool/internal/snapshot"
	"coatcheck/shard/slots"
)

// WriteTo and Clone look at each slot twice (snapshot.go says why). The walker has the order of these looks. Its
// sink makes of what they find a snapshot, or another pool.

// sink gets what a walker finds.
type sink interface {
	// block gets the values of up to limit slots from index first on, with stages of the first look, and
	// returns how many slots it has got.
	block(first uint32, limit uint64) (uint64, error)

	// addVacant gets n slots in which nothing lives and which need no memory in the copy. endVacant is called
	// after the last.
	addVacant(first, n, stage uint32) error
	endVacant() error

	skips(first uint32, lives []uint32) error
	order(order []byte, handed uint64) error

	// changed gets a run of slots whose stages are not what they were: those that see has read. In the copy,
	// a live slot keeps the value of the first look if that had the same stage; otherwise it is vacant.
	changed(first uint32) error
}

// walker is one call of WriteTo or Clone.
type walker struct {
	core   *core
	sink   sink
	stages []uint32 // of a block
	looks  []look   // what the first look found
}

func newWalker(c *core) walker {
	return walker{core: c, stages: make([]uint32, snapshot.SlotsOf(c.arena.Size))}
}

// look is what the walker keeps of a run of slots: their number, and the sum of their
// stages.
type look struct {
	slots uint32
	sum   uint64
}

// neverSeen is a sum that no stages have. What has it is written again.
const neverSeen = math.MaxUint64

func lookAt(stages []uint32) look {
	l := look{slots: uint32(len(stages))}
	for _, stage := range stages {
		l.sum += uint64(stage)
	}
	return l
}

// lookAtFloor is lookAt for n slots of a page without memory.
func lookAtFloor(n, floor uint32) look { return look{n, uint64(n) * uint64(floor)} }

// walk looks at all slots twice, and returns how many there are.
func (w *walker) walk() (total uint32, err error) {
	a := &w.core.arena
	handed := a.Table.Allocated()
	for first := uint64(0); first < handed; {
		n, err := w.vacant(uint32(first), handed)
		if n == 0 && err == nil {
			n, err = w.sink.block(uint32(first), handed-first)
		}
		if err != nil {
			return 0, err
		}
		first += n
	}
	err = w.sink.endVacant()
	if err == nil {
		err = w.skipped(handed)
	}
	if err == nil && w.core.replays {
		// The order comes before the second look too: a slot that has changed by then is not where it was.
		err = w.sink.order(a.Order(), handed)
	}
	if err != nil {
		return 0, err
	}
	// No value is read from here on. So the copy has no handle that is issued
	// after the second look at its slot.
	last := a.Table.Allocated()
	seen := uint64(0)
	for _, l := range w.looks {
		if err := w.again(uint32(seen), l); err != nil {
			return 0, err
		}
		seen += uint64(l.slots)
	}
	return uint32(last), w.later(seen, last)
}

// again looks a second time at the run of slots from index first on, and hands on what has changed.
func (w *walker) again(first uint32, l look) error {
	floor := uint32(l.sum / uint64(l.slots)) // if it had no memory; then it may be longer than a block
	for end := first + l.slots; first < end; {
		t := w.core.pages()
		if now, ok := t.Floor(first); ok && now == floor && l == lookAtFloor(l.slots, floor) {
			first += t.Beside(first, end-first) // nothing has changed
			continue
		}
		n := uint32(w.see(t, first, int(end-first)))
		if now := lookAt(w.stages); now != l && now != lookAtFloor(n, floor) || l.sum == neverSeen {
			if err := w.sink.changed(first); err != nil {
				return err
			}
		}
		first += n
	}
	return nil
}

// later hands on the slots from index first to last-1, which were handed out since the first look.
func (w *walker) later(first, last uint64) error {
	for first < last {
		n := w.see(w.core.pages(), uint32(first), int(min(last-first, math.MaxInt32)))
		if err := w.sink.changed(uint32(first)); err != nil {
			return err
		}
		first += uint64(n)
	}
	return nil
}

// see reads the stages of up to limit slots of a block, and returns how many these are.
func (w *walker) see(t *slots.PageTable, first uint32, limit int) int {
	limit = min(limit, cap(w.stages))
	n := w.core.arena.Table.Stages(t, first, w.stages[:limit])
	w.stages = w.stages[:n]
	return n
}

// skipped hands on which of the slots below handed skip lives at their next removal. It comes before the
// second look: a slot that is removed in between seems to skip them once more, and not never.
func (w *walker) skipped(handed uint64) error {
	for first := uint64(0); first < handed; {
		t := w.core.pages()
		n := min(handed-first, uint64(cap(w.stages)))
		if _, gone := t.Floor(uint32(first)); gone {
			first += uint64(t.Beside(uint32(first), slots.None))
			continue
		}
		lives := w.stages[:n]
		if w.core.arena.Skips(uint32(first), lives) {
			if err := w.sink.skips(uint32(first), lives); err != nil {
				return err
			}
		}
		first += n
	}
	return nil
}

// vacant hands on the slots of a page in which nothing lives, from index first on, without values. It returns
// how many these are: 0 if their values must be written. All slots below handed were handed out.
func (w *walker) vacant(first uint32, handed uint64) (uint64, error) {
	t := w.core.pages()
	m, j := t.Meta(first)
	end := uint64(m.FirstSlot) + uint64(m.N)
	if end > handed {
		return 0, nil // slots that were never used are left, and they have memory
	}
	n := m.N - j
	if m.Floor != 0 {
		if w.core.arena.NeedsMemory(m.Floor) {
			return 0, nil // a pool that was restored has such floors
		}
		w.looks = append(w.looks, lookAtFloor(n, m.Floor))
		return uint64(n), w.sink.addVacant(first, n, m.Floor)
	}
	if w.core.replays || j > 0 || !w.isVacant(t, m) {
		return 0, nil
	}
	for i := first; uint64(i) < end; {
		k := w.see(t, i, int(end-uint64(i)))
		l := lookAt(w.stages)
		for j, stage := range w.stages {
			if stage += stage % 2; w.core.arena.NeedsMemory(stage) { // it has grown too old since isVacant
				stage, l.sum = uint32(w.core.arena.OldFloor()), neverSeen
			}
			// A life that began since isVacant ends in the copy, as one that begins after the first look.
			if err := w.sink.addVacant(i+uint32(j), 1, stage); err != nil {
				return 0, err
			}
		}
		w.looks = append(w.looks, l)
		i += uint32(k)
	}
	return uint64(n), nil
}

// isVacant reports whether no slot of m's page needs memory in a copy.
func (w *walker) isVacant(t *slots.PageTable, m *slots.PageMeta) bool {
	part := t.Strip(m.FirstSlot, m.FirstSlot+m.N)
	for j := range part.N {
		if a := &w.core.arena; a.NeedsMemory(a.Table.StageOf(part.First+j, part.Slot(j).Word.Load())) {
			return false
		}
	}
	return true
}
