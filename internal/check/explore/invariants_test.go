//go:build interleave

package explore_test

import (
	"fmt"
	"slices"

	"coatcheck/internal/check/interleave"
	. "coatcheck/pool"
	"coatcheck/shard/slots"
)

// What is claimed, and what checks it, for scenarios and drawn programs alike. Most judges
// have a mutant that they alone find.
//
//	an address is computed from an index in the table   slots.At panics
//	nothing is written to the void                      holds, after each step
//	a slot is in one place, and none is lost            locate, complete
//	generations grow, a handle is issued once           holds, issued
//	what a guard or a Ref has seen is not reused        values, after each step
//	ErrFull and ErrStalled are true at some moment      measure, refuse
//	ErrExhausted is true, and stays so                  exhausted
//	false is true: the handle was not live              sees, ended
//	Synchronize returns when all is reclaimed           reclaimed
//	each life has its two events, and the slot meanwhile  onInsert, onRemove, told, toldAll
//	a queue keeps its order                             keepsOrder, after each step
//	a shard is made under verdicts.mu                   growsLocked, after each step
//	counts, Len and Stats add up at rest                complete, figures
//
// Under the tag coatcheck_debug a pool itself notes who did what, and under neither it
// checks nothing of this: storms and torture look at values and ages there.

// check is called after every step.
func (w *world) check() error {
	if w.r.Loaded() {
		return w.values()
	}
	err := w.holds()
	if err == nil && Arena(w.p).FIFO {
		err = w.keepsOrder()
	}
	if err == nil {
		err = w.growsLocked()
	}
	return err
}

// growsLocked fails if a step has made a shard without the lock of refusals. What comes before the first
// step takes no locks.
func (w *world) growsLocked() error {
	n, lock := Arena(w.p).ShardsMade()
	if w.shards != 0 && n != w.shards && !w.r.Locked(lock) {
		return fmt.Errorf("a shard was made, and verdicts.mu is not locked (I13)")
	}
	w.shards = n
	return nil
}

// holds is what holds after every step.
func (w *world) holds() error {
	if err := w.locate(); err != nil {
		return err
	}
	t := Arena(w.p).Table.Pages()
	for i := range t.Limit {
		slot := slots.At[val](t, i)
		word := slot.Word.Load()
		g := slots.Generation(word)
		if w.isVoid(t, i) {
			if word != slots.Pack(0, slots.None) {
				return fmt.Errorf("the void was written to: slot %d", i)
			}
			continue
		}
		if g < w.generation[i] {
			return fmt.Errorf("the generation of slot %d went back from %d to %d (I2)", i, w.generation[i], g)
		}
		w.generation[i] = g
		if own := slots.Low(word) == i; own != slots.IsLive(word) && (i > 0 || word != 0) {
			return fmt.Errorf("the word of slot %d, %d:%d, links to itself, or lives with another index (I4)", i, g, slots.Low(word))
		}
		if !slots.IsLive(word) {
			continue
		}
		if g > slots.LastGeneration {
			return fmt.Errorf("slot %d lives with generation %d, after the last", i, g)
		}
		e := w.find(Handle[val](word))
		if e == nil {
			return fmt.Errorf("%v is live and was never issued", Handle[val](word))
		}
		if e.removed {
			return fmt.Errorf("%v is live and was removed", e.h)
		}
		if slot.Value.stamp != e.stamp {
			return fmt.Errorf("the live value of %v is %d; want %d: its slot has two owners", e.h, slot.Value.stamp, e.stamp)
		}
		if err := w.told(e.h); err != nil {
			return err
		}
	}
	for _, e := range w.entries {
		if !e.begun && Slot(w.p, e.h.Index()).Word.Load() != uint64(e.h) {
			return fmt.Errorf("%v is lost, and was not removed", e.h)
		}
	}
	if err := w.values(); err != nil {
		return err
	}
	e := Domain(w.p).Epoch()
	if e < w.epoch {
		return fmt.Errorf("the epoch went back from %d to %d", w.epoch, e)
	}
	w.epoch = e
	w.measure()
	return nil
}

// values fails if a value that a guard or a Ref has seen is another now.
func (w *world) values() error {
	for _, rd := range w.watched {
		for _, s := range rd.Seen {
			if s.V.stamp != s.Number {
				return fmt.Errorf("the slot of %v was reused or cleaned under a guard or a Ref that has seen it", s.H)
			}
		}
	}
	return nil
}

// complete fails if a slot is lost: while no operation is under way, each slot has a place.
func (w *world) complete() error {
	if err := w.holds(); err != nil {
		return err
	}
	t := Arena(w.p).Table.Pages()
	exhausted, reserved, held := 0, 0, 0
	for i := range t.Limit {
		n, parked := t.Holding(i)
		if held += n; parked && n == 0 {
			return fmt.Errorf("slot %d is parked, and is not held", i)
		}
		spent := slots.Generation(Slot(w.p, i).Word.Load()) == slots.Spent
		if w.place[i] != nowhere {
			continue
		}
		switch {
		case spent:
			exhausted++
		case slices.ContainsFunc(w.reserved, func(r *Reservation[val]) bool { return IsOpen(r) && r.Handle().Index() == i }):
			reserved++
		default:
			return fmt.Errorf("slot %d is lost", i)
		}
	}
	if n := Arena(w.p).InResets(); n != 0 {
		return fmt.Errorf("%d slots are counted in Resets, and none runs", n)
	}
	floors := Arena(w.p).Table.Absent()
	for i := range t.Limit {
		floor, absent := floors[i]
		if absent != w.isVoid(t, i) {
			return fmt.Errorf("slot %d: its page is absent or shown, not both", i)
		}
		floor = Arena(w.p).Table.Origins().Generation(i, floor)
		if absent && floor < w.generation[i] { // the life that Trim burns included
			return fmt.Errorf("slot %d had generation %d, and the floor of its page is at %d (I11)", i, w.generation[i], floor)
		}
	}
	for _, k := range w.workers {
		if !IsClosed(k.w) && w.keepsGone(Magazine(k.w).View()) {
			return fmt.Errorf("an idle Worker keeps a page that Trim has given up")
		}
	}
	if err := w.toldAll(); err != nil {
		return err
	}
	live := 0
	for _, e := range w.entries {
		if Slot(w.p, e.h.Index()).Word.Load() == uint64(e.h) {
			live++
		}
	}
	if len(w.entries)-live != w.gone && !w.vague {
		return fmt.Errorf("%d values are gone, and %d removals succeeded", len(w.entries)-live, w.gone)
	}
	return w.figures(live, reserved, held, exhausted)
}

// rest checks what holds while no operation is under way, if there is one thread and it is
// between two operations.
func (a *actor) rest() {
	if !a.alone || len(a.frames) > 0 {
		return
	}
	interleave.Drain()
	interleave.Unseen(func() {
		if err := a.complete(); err != nil {
			a.r.Failf("at rest: %w", err)
		}
	})
}

// isVoid reports whether t has the void instead of slot i's page.
func (w *world) isVoid(t *slots.PageTable, i uint32) bool {
	v := Arena(w.p).Table.Void()
	return v != nil && t.UnitAddresses()[i>>t.Shift] == uintptr(v)
}

// keepsGone reports whether view, which may be older than the current table, shows the memory of a
// page that has other memory now, or none.
func (w *world) keepsGone(view *slots.PageTable) bool {
	now, void := Arena(w.p).Table.Pages().UnitAddresses(), uintptr(Arena(w.p).Table.Void())
	for k, unit := range view.UnitAddresses() {
		if unit != now[k] && unit != void {
			return true
		}
	}
	return false
}

// finally checks what holds at the end of a run: no slot is lost, and without guards every
// slot is reclaimed.
func (w *world) finally() error {
	if err := w.complete(); err != nil {
		return fmt.Errorf("at the end: %w", err)
	}
	a := &actor{w, nil, nil}
	for len(w.watched) > 0 {
		a.unpin(w.watched[0])
	}
	for _, k := range w.workers {
		k.w.Close()
	}
	for _, r := range w.reserved {
		if IsOpen(r) {
			a.cancel(r, (*Reservation[val]).Cancel)
		}
	}
	if err := w.p.Synchronize(w.patient(0)); err != nil {
		return fmt.Errorf("nothing is pinned, and Synchronize does not end")
	}
	Domain(w.p).Scan()
	if n, row := Domain(w.p).Scanned(), w.names.newestRow(); n != row {
		return fmt.Errorf("nothing is pinned, and a scan visits %d cells; want %d, those of the newest row", n, row)
	}
	if n := Arena(w.p).Waiting(); n != 0 {
		return fmt.Errorf("nothing is pinned, and after Synchronize %d slots are not reclaimed", n)
	}
	if n := Arena(w.p).SpentInLimbo(); n != 0 {
		return fmt.Errorf("nothing waits, and %d slots that do count as used up", n)
	}
	if err := w.complete(); err != nil {
		return fmt.Errorf("when all is given back: %w", err)
	}
	if Arena(w.p).Capacity > 0 && Arena(w.p).Capacity <= 8 {
		room := int(Arena(w.p).Capacity) - w.p.Len()
		w.roomy = false
		for i := 0; ; i++ {
			if a.at("Insert", nil) == 0 {
				if i != room {
					return fmt.Errorf("the pool takes %d values more; want %d", i, room)
				}
				break
			}
			if w.r.Failed() {
				return nil
			}
		}
		if err := w.complete(); err != nil {
			return fmt.Errorf("when it is full: %w", err)
		}
	}
	if w.finish != nil {
		return w.finish()
	}
	return nil
}
