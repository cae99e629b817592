//go:build interleave

package explore_test

import (
	"fmt"
	"math"

	. "coatcheck/pool"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// The places of a slot. While an operation moves it, it is nowhere.
const (
	nowhere = iota
	isLive
	inFree
	isReady
	inLimbo
	isWaiting
	inFresh
	inReady
	inBag
	isParked
	isAbsent
	unallotted
)

// unused is the turn of slots that came to a queue from where they had none.
const unused = math.MaxUint32

var placeNames = [...]string{"nowhere", "live", "freelist", "slots that are ready", "limbo", "slots that wait", "fresh range", "Worker", "Worker's bag", "parked slots", "absent page", "unallotted"}

// put notes that slot i is at a place. It must have memory, and be at no other.
func (w *world) put(i uint32, place uint8) {
	if i >= Arena(w.p).Table.Pages().Limit {
		w.misplaced("slot %d in the %s has no memory", i, placeNames[place])
		return
	}
	if was := w.place[i]; was != nowhere {
		w.misplaced("slot %d is in two places: %s and %s", i, placeNames[was], placeNames[place])
	}
	w.place[i] = place
	if place == inFree || place == isReady {
		w.lists = append(w.lists, i)
	}
}

// misplaced notes what locate is to return, if nothing was wrong before.
func (w *world) misplaced(format string, args ...any) {
	if w.wrong == nil {
		w.wrong = fmt.Errorf(format, args...)
	}
}

// chain notes the slots of a list, of n slots or to its end if n < 0, and returns
// how many there are.
func (w *world) chain(i uint32, n int, place uint8) int {
	k := 0
	for ; k != n && (n >= 0 || i != slots.None); k++ {
		if w.put(i, place); w.wrong != nil {
			break
		}
		word := Slot(w.p, i).Word.Load()
		if slots.IsLive(word) {
			w.misplaced("slot %d in the %s is live", i, placeNames[place])
		}
		if (place == inFree || place == isReady) && slots.Generation(word) == slots.Spent {
			w.misplaced("slot %d in the freelist has no life left (I3)", i)
		}
		i = slots.Low(word)
	}
	return k
}

// isClean reports whether slot i, which is vacant, is ready for its next life.
func (w *world) isClean(i uint32) bool {
	v, resets := Slot(w.p, i).Value, Arena(w.p).Reset != nil
	if !Arena(w.p).Pointers && !resets {
		return true // plain values may stay
	}
	return v.stamp == 0 && (v.keep == nil || resets)
}

// locate finds the place of every slot.
func (w *world) locate() error {
	table := &Arena(w.p).Table
	t := table.Pages()
	if t.Limit > maxSlots {
		return fmt.Errorf("the scenario touches %d slots", t.Limit)
	}
	clear(w.place[:t.Limit])
	w.wrong, w.lists = nil, w.lists[:0]
	for _, c := range Arena(w.p).Inspect() {
		w.locateIn(c)
	}
	for _, k := range w.workers {
		w.locateKept(k)
	}
	for i := range t.Limit {
		if table.Unallotted(i) {
			w.put(i, unallotted)
		}
		if w.isVoid(t, i) {
			w.put(i, isAbsent)
			continue
		}
		switch w.place[i] {
		case inFree, isReady, inFresh, inReady, unallotted:
			if !w.isClean(i) {
				w.misplaced("vacant slot %d is not cleaned: %+v", i, Slot(w.p, i).Value)
			}
		}
		if slots.IsLive(slots.At[val](t, i).Word.Load()) {
			w.put(i, isLive)
		}
		if _, parked := t.Holding(i); parked {
			w.put(i, isParked)
		}
	}
	return w.wrong
}

func (w *world) locateIn(c shard.Contents) {
	w.lists = append(w.lists, slots.None)
	if top := slots.Low(c.Free); top != slots.None && slots.Generation(c.Free) != slots.Generation(Slot(w.p, top).Word.Load()) {
		w.misplaced("the freelist's head has generation %d, its top slot %d another (I5)", slots.Generation(c.Free), top)
	}
	w.chain(slots.Low(c.Free), -1, inFree)
	for _, l := range []shard.List{c.Limbo, c.Late} {
		// TakeAll empties the list, and then writes how many slots it took.
		if n := uint32(w.chain(l.First, -1, inLimbo)); n > l.N || n < l.N && !w.r.Locked(c.Lock) {
			w.misplaced("limbo says %d slots and has %d", l.N, n)
		}
	}
	if !w.r.Locked(c.Lock) {
		for _, l := range c.Waiting {
			w.chain(l.First, int(l.N), isWaiting)
		}
		for _, l := range c.Ready {
			w.chain(l.First, int(l.N), isReady)
		}
	}
	for i := slots.Generation(c.Fresh); i < slots.Low(c.Fresh); i++ {
		w.put(i, inFresh)
	}
}

// keepsOrder fails if a queue has slots in another order than the one in which they came to it
// (L14). What Trim finds unused, or in a page that came back, may go first.
func (w *world) keepsOrder() error {
	for i := range Arena(w.p).Table.Pages().Limit {
		switch w.place[i] {
		case inFree, isReady, nowhere: // in the queue, or in the hands of a goroutine with the lock
		case inFresh, isAbsent, unallotted:
			w.turn[i] = unused
		default:
			w.turn[i] = 0
		}
	}
	last := uint32(0)
	for _, i := range w.lists {
		switch {
		case i == slots.None: // another shard
			last = 0
			continue
		case w.turn[i] == unused:
			continue
		case w.turn[i] == 0:
			w.turns++
			w.turn[i] = w.turns
		case w.turn[i] < last:
			return fmt.Errorf("slot %d is behind slots that came to the queue after it (L14)", i)
		}
		last = w.turn[i]
	}
	return nil
}

// locateKept finds what a Worker keeps.
func (w *world) locateKept(k *keeper) {
	if k.closing || IsClosed(k.w) {
		return
	}
	ready, bag := Magazine(k.w).Inspect()
	for _, h := range ready {
		if k.busy > 0 {
			break // an operation may be about to write these entries
		}
		w.put(slots.Low(h), inReady)
	}
	for _, h := range bag {
		w.put(slots.Low(h), inBag)
	}
}
