package shard

import (
	"slices"

	"coatcheck/shard/slots"
)

// A snapshot reads what a pool's slots are while others use them, and a restored pool's lists
// are built from that.
//
// A slot's stage (slots/origins.go) says all that a snapshot must know. If it is odd, the slot is live at
// it. If it is even, no handle beyond the next odd stage was ever issued, because a
// slot's owner has the handle of the very next life (I2). So a restored vacant slot burns that
// one life, whether it was in a freelist, in limbo, or with a Worker, a Reservation or a Ref.
//
// Slots that hold values get memory as they are read, with their pages. What a snapshot says of others makes
// pages without memory (slots/restore.go). Hostile input names slots at no cost, so all memory is paid for by
// the bytes that were read: Restorer keeps the account.
//
// The methods here are for the goroutine that builds a pool which no other has seen.
// Their stores are atomic only because the words are.

// BesideSlot is how many bytes a restored slot may take beside its memory: a stamp, and what it
// skips. Each 64 slots take 12 bytes more.
const BesideSlot = 8

// OldFloor returns the greatest floor that Trim gives a page: one life after oldStage. It is below 0 if it gives
// none.
func (a *Arena) OldFloor() int64 { return oldStage(&a.Table) + 2 }

// NeedsMemory reports whether a slot at a stage has memory in a copy: it is live, or too old for a floor.
func (a *Arena) NeedsMemory(stage uint32) bool { return stage%2 == 1 || int64(stage) > a.OldFloor() }

// Restorer restores the slots of an arena from a snapshot.
type Restorer struct {
	arena *Arena
	spare uint64          // how many bytes of memory the input has paid for, and nothing has taken
	sizes slots.PageSizes // without a Capacity, which may make a few small pages
	skips RestoredSkips

	// shared says that a page got memory after some of its slots had been read, which have its floor. The pages
	// of the original are others.
	shared bool
}

// NewRestorer returns the restorer of an arena that has no slots.
func NewRestorer(a *Arena) *Restorer { return &Restorer{arena: a, sizes: slots.PagesOf(a.Size, 0)} }

// Earn notes that the input has paid for so many bytes more.
func (r *Restorer) Earn(bytes uint64) { r.spare = min(r.spare+bytes, 1<<62) }

// spend reports whether the input has paid for so many bytes, and takes them.
func (r *Restorer) spend(bytes uint64) bool {
	if bytes > r.spare {
		return false
	}
	r.spare -= bytes
	return true
}

// spendPage is spend for a page of n slots. What Preallocate makes has cost nothing.
func (r *Restorer) spendPage(first, n uint64) bool {
	return first < r.arena.Table.FirstPage() || r.spend(n*uint64(r.arena.Size+BesideSlot))
}

// affords reports whether the input has paid for pages until there are n slots.
func (r *Restorer) affords(n uint64) bool {
	limit := uint64(r.arena.Table.Pages().Limit)
	return n <= limit || (n-limit)*uint64(r.arena.Size+BesideSlot) <= r.spare
}

// add adds pages with memory until there are n slots.
func (r *Restorer) add(n uint64) bool {
	t := &r.arena.Table
	for {
		limit := uint64(t.Pages().Limit)
		if limit >= n {
			return true
		}
		if !r.spendPage(limit, t.NextPage()) {
			return false
		}
		t.Provide(limit + 1)
	}
}

// Occupy hands out the slots from first to end-1, which are the next ones, and gives them memory. It returns
// false if the input has not paid for that.
func (r *Restorer) Occupy(first, end uint64) bool {
	t := &r.arena.Table
	if first < uint64(t.Pages().Limit) { // in the last page, with slots that were handed out before
		if m, _ := t.Pages().Meta(uint32(first)); !r.occupy(m, uint32(first)) {
			return false
		}
	}
	if !r.add(end) {
		return false
	}
	t.Extend(end)
	return true
}

// occupy gives memory to m's page, of which slots below end were handed out, if it has none.
func (r *Restorer) occupy(m *slots.PageMeta, end uint32) bool {
	if m.Floor == 0 {
		return true
	}
	if !r.spendPage(uint64(m.FirstSlot), uint64(m.N)) {
		return false
	}
	r.shared = r.shared || end > m.FirstSlot
	r.arena.Table.Occupy(m, end)
	return true
}

// Vacant hands out the slots from first on, which are the next ones, to end-1. They are vacant at a
// stage, and get no memory unless they share a page with others. It returns false if the input has not
// paid for their place in the table.
func (r *Restorer) Vacant(first, end uint64, stage uint32) bool {
	a := r.arena
	if a.Fixed && !r.Occupy(first, end) || !r.spend(r.sizes.TableBytes(end)-r.sizes.TableBytes(first)) {
		return false
	}
	a.Table.ExtendVacant(end)
	for i := first; i < end; {
		m, j := a.Table.Pages().Meta(uint32(i))
		n := min(uint64(m.N-j), end-i)
		if m.Floor != 0 {
			m.Floor = max(m.Floor, stage)
		} else {
			for k := range uint32(n) {
				a.RestoreSlot(uint32(i)+k, stage)
			}
		}
		i += n
	}
	return true
}

// Stage returns the stage of slot i, which was handed out. It is a later one, and exact is false, if
// the slot has or had a floor.
func (r *Restorer) Stage(i uint32) (stage uint32, exact bool) {
	m, _ := r.arena.Table.Pages().Meta(i)
	return r.arena.Table.SlotStage(i), m.Floor == 0 && !r.shared
}

// Change gives a later stage to slot i, which was handed out. A live slot stays only if it has that
// stage already. Change returns false if the input has not paid for the memory that the slot needs.
func (r *Restorer) Change(i, stage uint32) bool {
	stage += stage % 2 // a life that began after the first look has no value here: it ends
	m, _ := r.arena.Table.Pages().Meta(i)
	if m.Floor != 0 && !r.arena.NeedsMemory(stage) {
		m.Floor = max(m.Floor, stage)
		return true
	}
	if !r.occupy(m, uint32(r.arena.Table.Allocated())) {
		return false
	}
	r.arena.RestoreSlot(i, stage)
	return true
}

// Skip makes slot i, which was handed out, skip so many lives more.
func (r *Restorer) Skip(i, lives uint32) { r.skips.Add(r.arena.Table.Pages(), i, lives) }

// RestoreSlot brings slot i, which was handed out and has memory, to a stage. A live slot already has its
// value.
func (a *Arena) RestoreSlot(i, stage uint32) {
	slot, generation := a.Table.Slot(i), a.Table.Origins().Generation(i, stage)
	if generation%2 == 1 {
		slot.Publish(slots.Pack(generation, i))
		return
	}
	a.Clear(slot)
	slot.Set(slots.Pack(generation, slots.None))
}

// RestoreSlots brings the slots from index first on, which were handed out, have memory, and have no values but those
// that live, to stages.
func (r *Restorer) RestoreSlots(first uint32, stages []uint32) {
	t, o := r.arena.Table.Pages(), r.arena.Table.Origins()
	for len(stages) > 0 {
		part := t.Strip(first, first+uint32(len(stages)))
		for j := range part.N {
			low := uint32(slots.None)
			if stages[j]%2 == 1 {
				low = first + j
			}
			part.Slot(j).Set(slots.Pack(o.Generation(first+j, stages[j]), low))
		}
		first, stages = first+part.N, stages[part.N:]
	}
}

// Outlive makes sure that no handle is issued again of slot i, which the arena leaves out, and which the
// original had at a stage. If slots are exhausted, slots with new indexes take their place, and
// perhaps this one. So slots that were never used begin after it, by so many lives and one more. If it
// has none left, there will be no slot with its index or a greater one.
//
// The wrong version forgets what the arena has no slot for, since no handle is live there now.
func (a *Arena) Outlive(i, stage, lives uint32) {
	next := uint64(stage+stage%2) + 2*(1+uint64(lives)) + 1
	if next > uint64(a.Table.Origins().LastStage()) {
		a.Slots = min(a.Slots, uint64(i))
		a.Table.Restrict(a.Slots)
		return
	}
	a.Table.BeginAt(uint32(next))
}

// Census counts the slots that have memory.
type Census struct{ Live, vacant, exhausted uint64 }

// RetireUnborn ends the next lives of each vacant slot: so many, and those that the slot must
// skip besides. It ends one at least, because another goroutine may have been promised the next
// life. Live slots skip so many when they are removed. A slot without another life is
// exhausted. It returns the counts of the slots.
func (r *Restorer) RetireUnborn(lives uint32) (c Census) {
	a := r.arena
	for m := range a.Table.Pages().Pages {
		if m.Floor != 0 { // which leaves each of its slots some life (OldFloor)
			m.Floor = uint32(min(uint64(m.Floor)+2*uint64(max(1, moreSkips(r.skips.lives(m, 0), lives))), uint64(a.Table.Origins().LastStage()-1)))
		}
	}
	a.eachRestored(func(m *slots.PageMeta, part slots.Strip) {
		for j := range part.N {
			slot := part.Slot(j)
			w := slot.Word.Load()
			if slots.IsLive(w) {
				c.Live++
				continue
			}
			g := restored(a.Table.Origins(), m.FirstSlot+j, w)
			if g = later(g, max(1, moreSkips(r.skips.lives(m, j), lives))); g == slots.Spent {
				c.exhausted++
			} else {
				c.vacant++
			}
			slot.Set(slots.Pack(g, slots.None))
		}
	})
	a.KeepSkips(&r.skips, lives)
	a.Table.RestoreSpent(c.exhausted, 0)
	return c
}

// restored returns the generation of slot i, which was handed out, by its word: the one before the first if that was
// never written.
func restored(o *slots.Origins, i uint32, word uint64) uint32 {
	if g := slots.Generation(word); g != 0 {
		return g
	}
	return o.Generation(i, 0)
}

// eachRestored calls f for each page that has memory, with those of its slots that were handed out.
func (a *Arena) eachRestored(f func(m *slots.PageMeta, part slots.Strip)) {
	t := a.Table.Pages()
	for m := range t.Pages {
		if uint64(m.FirstSlot) >= a.Table.Allocated() {
			return
		}
		if m.Floor != 0 {
			continue
		}
		f(m, t.Strip(m.FirstSlot, uint32(min(uint64(m.FirstSlot)+uint64(m.N), a.Table.Allocated()))))
	}
}

// FillFreelists puts the vacant slots that have memory on the shards' freelists, in equal parts, but for those
// of pages in which nothing lives. It gives these pages up, as Trim does, and insertions bring them back. c is
// the result of RetireUnborn.
func (r *Restorer) FillFreelists(c Census) {
	a := r.arena
	a.vacate(&c)
	var part slots.Strip
	j := uint32(0)
	receivers := a.shards()
	n := uint64(len(receivers))
	for k, s := range receivers {
		var list slots.Chain
		for range c.vacant*uint64(k+1)/n - c.vacant*uint64(k)/n {
			for {
				if j == part.N {
					part, j = a.Table.Pages().Strip(part.First+part.N, uint32(a.Table.Allocated())), 0
				}
				slot, i := part.Slot(j), part.First+j
				j++
				if w := slot.Word.Load(); !slots.IsLive(w) && slots.Generation(w) != slots.Spent {
					list.Append(slot, i, w)
					break
				}
			}
		}
		s.lock()
		s.put(&list) // of a queue, those that were never used come first
		s.unlock()
	}
	a.Preallocate()
}

// vacate makes the table's list of pages without memory: all in which nothing lives, the last one first. It
// takes their slots off c. Where they are no more than the stub has, they keep their memory, and so does the
// last page, if some of its slots are not handed out.
func (a *Arena) vacate(c *Census) {
	t := &a.Table
	var gone []slots.Decommitted
	total := uint64(0)
	for m := range t.Pages().Pages {
		if floor := a.floorOf(m); floor > 0 && !a.Fixed {
			gone = append(gone, slots.Decommitted{FirstSlot: m.FirstSlot, Floor: floor})
			total += uint64(m.N)
		}
	}
	if total <= uint64(t.Pages().Mask)+1 {
		gone = nil
	}
	k := 0
	for m := range t.Pages().Pages {
		goes := k < len(gone) && gone[k].FirstSlot == m.FirstSlot
		if goes {
			k++
		}
		switch {
		case goes && m.Floor == 0:
			t.Vacate(m, gone[k-1].Floor)
			c.vacant -= uint64(m.N)
		case !goes && m.Floor != 0:
			end := uint32(min(uint64(m.FirstSlot)+uint64(m.N), t.Allocated()))
			t.Occupy(m, end)
			c.vacant += uint64(end - m.FirstSlot)
		}
	}
	slices.Reverse(gone)
	t.EndRestore(gone, len(gone) > 0)
}

// floorOf returns the floor that m's page has without memory, or 0 if one of its slots needs memory or is not
// handed out. It is I11's: each slot has burnt a life since it was in a list.
func (a *Arena) floorOf(m *slots.PageMeta) (floor uint32) {
	t := &a.Table
	if uint64(m.FirstSlot)+uint64(m.N) > t.Allocated() {
		return 0
	}
	if m.Floor != 0 {
		return m.Floor
	}
	part := t.Pages().Strip(m.FirstSlot, m.FirstSlot+m.N)
	for j := range part.N {
		stage := t.Origins().StageOf(part.First+j, part.Slot(j).Word.Load())
		if stage%2 == 1 || int64(stage) > oldStage(&a.Table) {
			return 0
		}
		floor = max(floor, stage)
	}
	return floor
}
