package shard

import "coatcheck/shard/slots"

// A restored pool begins a new line of generations, so that handles which the original issued
// after the snapshot name nothing in it. Slots that are vacant then skip some lives at once.
// A live slot must keep its handle, so it skips them when it is removed. The remover owns the slot
// between the unlinking and the push to limbo, and raises its generation there. So neither limbo nor what
// comes after it knows of skips, and a removal tells by its handle whether there may be any.
//
// The wrong version asks each slot that is reclaimed. One value of the file then makes each pair of an
// insertion and a removal, of whatever slots, take 1.7 times as long. And one number serves all slots. With a number
// drawn for each, two copies of a million slots collide in some; and to begin above the greatest generation of all
// costs each slot the lives of the one that was used most.

// LeastSkip is the least number of lives that a restored slot skips, if a SkipShare-th of all its
// lives is more. If a slot was reused fewer times than that after the snapshot, none of those handles is
// accepted. A greater number would leave fewer lives: a slot loses at most a SkipShare-th of them.
const (
	LeastSkip = 1 << 16
	SkipShare = 500
)

// apart says which removals take the long way (ending). All is zero but in a restored pool, or with an OnRemove.
type apart struct {
	apartRank uint64        // those of handles that rank below it: skipRank, or all if there is an OnRemove
	skipRank  uint64        // those of handles that rank below it ask whether the slot skips lives
	ranking   slots.Ranking // zero but in a restored pool
}

// isApart reports whether the removal of h takes the long way: there is an OnRemove, or the slot may skip lives.
func (a *apart) isApart(h uint64) bool { return a.ranking.Rank(h) < a.apartRank }

// maySkip reports whether the slot that h names may skip lives when it is removed.
func (a *apart) maySkip(h uint64) bool { return a.ranking.Rank(h) < a.skipRank }

// skip makes the slot that the caller has unlinked from h skip the lives that it must. Its word links to link.
// It returns the handle of the last life that the slot skips, or else h: the slot goes on as if that had been
// removed.
func skip(s *shard, slot *slots.Hook, h uint64, link uint32) uint64 {
	t, i := s.arena.Table.Pages(), slots.Low(h)
	n := t.Skips(i)
	if n == 0 {
		return h
	}
	last := later(slots.Generation(h)+1, n) - 1
	s.unborn.Add(int64(last-slots.Generation(h)) / 2) // before the word shows them
	h = slots.Pack(last, i)
	slot.Set(slots.Vacated(h, link)) // before the number is taken: a snapshot reads the number, and then the word
	t.TakeSkip(i)
	return h
}

// later returns the generation to which a vacant slot comes by so many lives. If it has no life
// after them, that is Spent.
func later(generation, lives uint32) uint32 {
	return uint32(min(uint64(generation)+2*uint64(lives), slots.Spent))
}

// Skips stores in dst how many lives the slots from index first on, which were handed out, skip when they are
// next removed. It reports whether any of them skips some. If no slot of the arena can, it stores nothing.
func (a *Arena) Skips(first uint32, dst []uint32) (found bool) {
	if a.skipRank == 0 {
		return false
	}
	for t := a.Table.Pages(); len(dst) > 0; {
		n, some := t.SkipsOf(first, dst)
		first, dst, found = first+n, dst[n:], found || some
	}
	return found
}

// RestoredSkips are what slots of an arena skip, while a snapshot is read. Then their pages keep it. Its zero
// value has none.
type RestoredSkips struct {
	// pages has by the first slot of a page a number for each of its slots. All slots of a page that had no
	// memory share one, which is the greatest: a slot of theirs was on its way out of limbo, and skips twice.
	pages map[uint32][]uint32
}

// Add makes slot i skip so many lives more.
func (s *RestoredSkips) Add(t *slots.PageTable, i, lives uint32) {
	m, j := t.Meta(i)
	page := s.pages[m.FirstSlot]
	if page == nil {
		n := m.N
		if m.Floor != 0 {
			n = 1
		}
		if s.pages == nil {
			s.pages = map[uint32][]uint32{}
		}
		page = make([]uint32, n)
		s.pages[m.FirstSlot] = page
	}
	k := int(j) % len(page)
	page[k] = moreSkips(page[k], lives)
}

// lives returns how many slot j of m's page skips.
func (s *RestoredSkips) lives(m *slots.PageMeta, j uint32) uint32 {
	if page := s.pages[m.FirstSlot]; page != nil {
		return page[int(j)%len(page)]
	}
	return 0
}

// moreSkips returns the sum of two numbers of lives, or all that a slot can have.
func moreSkips(n, m uint32) uint32 { return uint32(min(uint64(n)+uint64(m), slots.Spent/2)) }

// KeepSkips has the pages keep what their live slots were restored to skip, and so many lives more for each.
// No magazine has been made.
func (a *Arena) KeepSkips(restored *RestoredSkips, lives uint32) {
	if len(restored.pages) == 0 && lives == 0 {
		return
	}
	latest, greatest := uint32(0), uint32(0) // a stage, and a generation
	o := a.Table.Origins()
	var each []uint32 // of a page
	// What is vacant has skipped, or was in a list, and so had skipped when it was removed.
	a.eachRestored(func(m *slots.PageMeta, part slots.Strip) {
		page := restored.pages[m.FirstSlot]
		if page == nil {
			stage, generation := m.SkipLive(o, part, lives)
			latest, greatest = max(latest, stage), max(greatest, generation)
			return
		}
		each = each[:0]
		skips := false
		for j := range part.N {
			g, n := slots.Generation(part.Slot(j).Word.Load()), uint32(0)
			if g%2 == 1 {
				n = moreSkips(page[int(j)%len(page)], lives)
			}
			if each = append(each, n); n > 0 {
				skips, latest, greatest = true, max(latest, o.Stage(m.FirstSlot+j, g)), max(greatest, g)
			}
		}
		if skips {
			m.SetSkips(each)
		}
	})
	if latest > 0 {
		a.ranking = a.Table.Origins().Ranking()
		a.skipRank = slots.RankBound(latest)
		a.apartRank = max(a.apartRank, a.skipRank)
		a.apartBelow = max(a.apartBelow, slots.Pack(greatest+1, 0))
		a.fastBelow, a.plainBelow = 0, 0
	}
}
