package slots

import (
	"math/bits"

	"coatcheck/internal/atom"
	"coatcheck/internal/cost"
)

// skips are the lives that slots of a page skip when they are removed next. A page has none unless its
// pool was restored, and again none once the last such slot has skipped. Mostly all skip equally many, and
// share the number. In a pool that was restored twice they may differ.
type skips struct {
	// marked has a bit for each slot: it skips some.
	//
	//	writers  TakeSkip, for the slot's owner
	//	readers  of
	marked []atom.Uint32

	lives []uint32   // how many: one number for all, or one for each slot
	left  atom.Int64 // how many slots are marked; written by TakeSkip
}

// of returns how many lives slot j of the page skips. s may be nil.
func (s *skips) of(j uint32) uint32 {
	if s == nil || s.marked[j/32].Load()>>(j%32)&1 == 0 {
		return 0
	}
	return s.lives[int(j)%len(s.lives)]
}

// bytes returns the memory of s, which may be nil.
func (s *skips) bytes() int64 {
	if s == nil {
		return 0
	}
	return 4 * int64(len(s.marked)+len(s.lives))
}

// Skips returns how many lives slot i skips when it is removed next.
func (t *PageTable) Skips(i uint32) uint32 {
	m, j := t.Meta(i)
	return m.skips.Load().of(j)
}

// SkipsOf stores in dst what the slots from index first on skip, up to the end of first's page. It returns how
// many slots these are, and whether any skips some.
func (t *PageTable) SkipsOf(first uint32, dst []uint32) (n uint32, found bool) {
	m, j := t.Meta(first)
	n = min(uint32(len(dst)), m.N-j)
	s := m.skips.Load()
	if s == nil {
		clear(dst[:n])
		return n, false
	}
	cost.Visits(int(n))
	for k := range n {
		dst[k] = s.of(j + k)
		found = found || dst[k] > 0
	}
	return n, found
}

// SetSkips notes what the slots of a page skip, in a table that no other goroutine has. lives has a number for
// each of its first slots, of which one at least is not 0.
func (m *PageMeta) SetSkips(lives []uint32) {
	s := &skips{marked: make([]atom.Uint32, (m.N+31)/32), lives: make([]uint32, 1)}
	for j, n := range lives {
		switch {
		case n == 0:
			continue
		case s.lives[0] == 0:
			s.lives[0] = n
		case s.lives[0] != n && len(s.lives) == 1:
			s.lives = append(make([]uint32, 0, m.N), lives...)[:m.N]
		}
		s.marked[j/32].Or(1 << (j % 32))
		s.left.Add(1)
	}
	m.skips.Store(s)
}

// SkipLive makes the live slots of a page, in a table that no other goroutine has, skip equally many lives each.
// part has the slots that were handed out. It returns the greatest stage, and the greatest generation, of those that
// skip some, or 0.
func (m *PageMeta) SkipLive(o *Origins, part Strip, lives uint32) (latest, greatest uint32) {
	if lives == 0 {
		return 0, 0
	}
	s := &skips{marked: make([]atom.Uint32, (m.N+31)/32), lives: []uint32{lives}}
	left := 0
	for first := uint32(0); first < part.N; first += 32 {
		mark := uint32(0)
		for j := range min(32, part.N-first) {
			g := Generation(part.Slot(first + j).Word.Load())
			if live := g & 1; live != 0 {
				mark |= live << j
				latest, greatest = max(latest, o.Stage(m.FirstSlot+first+j, g)), max(greatest, g)
			}
		}
		s.marked[first/32].Store(mark)
		left += bits.OnesCount32(mark)
	}
	if left > 0 {
		s.left.Store(int64(left))
		m.skips.Store(s)
	}
	return latest, greatest
}

// TakeSkip makes slot i, which skips lives, skip none. The caller owns it. The page of the last one forgets
// what there was.
func (t *PageTable) TakeSkip(i uint32) {
	m, j := t.Meta(i)
	s := m.skips.Load()
	s.marked[j/32].And(^(uint32(1) << (j % 32)))
	if s.left.Add(-1) == 0 {
		m.skips.Store(nil)
	}
}
