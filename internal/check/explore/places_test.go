//go:build interleave

package explore_test

import (
	"fmt"
	"slices"

	. "coatcheck/pool"
	"coatcheck/shard"
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

var placeNames = [...]string{"nowhere", "live", "freelist", "slots that are ready", "limbo", "slots that wait", "fresh range", "Worker", "Worker's bag", "parked slots", "absent page", "unallotted"}

// put notes that slot i is at a place, and fails if it is at another as well.
func (w *world) put(i uint32, place uint8) error {
	if i >= Arena(w.p).Table.Pages().Limit {
		return fmt.Errorf("slot %d in the %s has no memory", i, placeNames[place])
	}
	if was := w.place[i]; was != nowhere {
		return fmt.Errorf("slot %d is in two places: %s and %s", i, placeNames[was], placeNames[place])
	}
	w.place[i] = place
	return nil
}

// chain notes the slots of a list, of n slots or to its end if n < 0, and returns
// how many there are.
func (w *world) chain(i uint32, n int, place uint8) (int, error) {
	k := 0
	for ; k != n && (n >= 0 || i != shard.None); k++ {
		if err := w.put(i, place); err != nil {
			return k, err
		}
		word := Slot(w.p, i).Word.Load()
		if shard.IsLive(word) {
			return k, fmt.Errorf("slot %d in the %s is live", i, placeNames[place])
		}
		if (place == inFree || place == isReady) && shard.Generation(word) == shard.Spent {
			return k, fmt.Errorf("slot %d in the freelist has no life left (I3)", i)
		}
		i = shard.Low(word)
	}
	return k, nil
}

// vacant fails unless slot i is ready for its next life.
func (w *world) vacant(i uint32) error {
	v := Slot(w.p, i).Value
	if !Arena(w.p).Pointers && Arena(w.p).Reset == nil {
		return nil // plain values may stay
	}
	if v.stamp != 0 || Arena(w.p).Reset == nil && v.keep != nil {
		return fmt.Errorf("vacant slot %d is not cleaned: %+v", i, v)
	}
	return nil
}

// locate finds the place of every slot.
func (w *world) locate() error {
	t := Arena(w.p).Table.Pages()
	if t.Limit > maxSlots {
		return fmt.Errorf("the scenario touches %d slots", t.Limit)
	}
	clear(w.place[:t.Limit])
	for i, c := range Arena(w.p).Inspect() {
		err := w.locateIn(c)
		if err == nil && Arena(w.p).FIFO {
			err = w.queue(i, c)
		}
		if err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
	}
	for i := range t.Limit {
		w.waits[i] = w.place[i] == inLimbo
	}
	for _, k := range w.workers {
		if err := w.locateKept(k); err != nil {
			return fmt.Errorf("Worker: %w", err)
		}
	}
	for i := range t.Limit {
		if Arena(w.p).Table.Unallotted(i) {
			if err := w.put(i, unallotted); err != nil {
				return err
			}
		}
	}
	for i := range t.Limit {
		if w.isVoid(t, i) {
			if err := w.put(i, isAbsent); err != nil {
				return err
			}
		}
	}
	for i := range t.Limit {
		switch w.place[i] {
		case inFresh, isAbsent, unallotted:
			w.turn[i] = 0 // Trim has put it where what was never used is
		}
		if w.place[i] == isAbsent {
			continue
		}
		if w.place[i] == inFree || w.place[i] == isReady || w.place[i] == inFresh || w.place[i] == inReady || w.place[i] == unallotted {
			if err := w.vacant(i); err != nil {
				return err
			}
		}
		if shard.IsLive(shard.At[val](t, i).Word.Load()) {
			if err := w.put(i, isLive); err != nil {
				return err
			}
		}
		if _, parked := t.Holding(i); parked {
			if err := w.put(i, isParked); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *world) locateIn(c shard.Contents) error {
	if top := shard.Low(c.Free); top != shard.None && shard.Generation(c.Free) != shard.Generation(Slot(w.p, top).Word.Load()) {
		return fmt.Errorf("the freelist's head has generation %d, its top slot %d another (I5)", shard.Generation(c.Free), top)
	}
	if _, err := w.chain(shard.Low(c.Free), -1, inFree); err != nil {
		return err
	}
	n, err := w.chain(shard.Low(c.Limbo), -1, inLimbo)
	if err != nil {
		return err
	}
	if uint32(n) != shard.Generation(c.Limbo) {
		return fmt.Errorf("limbo says %d slots and has %d", shard.Generation(c.Limbo), n)
	}
	if !w.r.Locked(c.Lock) {
		for _, l := range c.Waiting {
			if err == nil {
				_, err = w.chain(l.First, int(l.N), isWaiting)
			}
		}
		for _, l := range c.Ready {
			if err == nil {
				_, err = w.chain(l.First, int(l.N), isReady)
			}
		}
	}
	for i := shard.Generation(c.Fresh); i < shard.Low(c.Fresh) && err == nil; i++ {
		err = w.put(i, inFresh)
	}
	return err
}

// queue notes in which order slots came to the limbo of shard k, and fails if its queue
// hands them out in another.
func (w *world) queue(k int, c shard.Contents) error {
	var came []uint32
	for i := shard.Low(c.Limbo); i != shard.None; i = shard.Low(Slot(w.p, i).Word.Load()) {
		if !w.waits[i] {
			came = append(came, i)
		}
	}
	for _, i := range slices.Backward(came) { // limbo is a stack
		w.turns++
		w.turn[i], w.cameTo[i] = w.turns, k
	}
	// Resets that run at the same time, one inside another too, deliver in the order in which
	// they end (L14).
	if w.r.Locked(c.Lock) || Arena(w.p).Reset != nil {
		return nil
	}
	last := uint32(0)
	list := w.listed(shard.Low(c.Free), -1)
	for _, l := range c.Ready {
		list = append(list, w.listed(l.First, int(l.N))...)
	}
	for _, i := range list {
		if w.turn[i] == 0 || w.cameTo[i] != k {
			continue // unknown, or moved here by Trim
		}
		if w.turn[i] < last {
			return fmt.Errorf("slot %d comes later in the queue than slots that were removed after it", i)
		}
		last = w.turn[i]
	}
	if Arena(w.p).Capacity > 0 || Arena(w.p).MaxLimbo > 0 {
		// A slot that waits for a guard was overtaken by those that did not (sift).
		for _, l := range c.Waiting {
			for _, i := range w.listed(l.First, int(l.N)) {
				if w.turn[i] < last {
					w.turn[i] = 0
				}
			}
		}
	}
	return nil
}

// listed returns the slots of a list, of n slots or to its end if n < 0.
func (w *world) listed(i uint32, n int) (list []uint32) {
	for len(list) != n && i != shard.None {
		list = append(list, i)
		i = shard.Low(Slot(w.p, i).Word.Load())
	}
	return list
}

// locateKept finds what a Worker keeps.
func (w *world) locateKept(k *keeper) error {
	if k.closing || IsClosed(k.w) {
		return nil
	}
	ready, bag, next, end := Magazine(k.w).Inspect()
	for _, h := range ready {
		if k.busy > 0 {
			break // an operation may be about to write these entries
		}
		if err := w.put(shard.Low(h), inReady); err != nil {
			return err
		}
	}
	for _, h := range bag {
		if err := w.put(shard.Low(h), inBag); err != nil {
			return err
		}
	}
	for i := next; i < end; i++ {
		if err := w.put(i, inReady); err != nil {
			return err
		}
	}
	return nil
}
