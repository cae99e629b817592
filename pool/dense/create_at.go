package dense

import (
	"errors"
	"fmt"

	"coatcheck/pool"
	"coatcheck/pool/internal/handle"
)

// Errors of [Store.CreateAt], which wraps them.
var (
	// ErrLive: another value has the slot, or this one is there already.
	ErrLive = errors.New("dense: the handle's slot has a value")

	// ErrStale: the handle's generation has passed. The store has had this value or a later one.
	ErrStale = errors.New("dense: the handle is stale")

	// ErrHandle: no store with this Capacity issues such a handle.
	ErrHandle = errors.New("dense: not a handle of a store like this")
)

// CreateAt puts v into the store under h, which another store has issued: that of a server, whose
// values this one mirrors. Otherwise it is as [Store.Create]. If it returns an error, nothing has
// changed:
//
//	ErrLive       another value has the slot of h, or the value is there already. A killed value has
//	              its slot until Refresh: first kill what the server removed, then Refresh, then create
//	ErrStale      the slot has had this generation or a later one: the message came late, or twice
//	ErrHandle     h is zero or forged, its generation is even, or its index is too high
//	pool.ErrFull  as for Create
//
// The index must be below Options.Capacity, plus one for each exhausted slot, or that of a slot that
// the store has used. The store takes 12 bytes for each index up to the highest, so set Capacity if
// handles come from a stranger.
//
// Slots that CreateAt passes over wait for Create. Do not use both in one Store: the handle that
// Create issues may be the next that the server does. To restore a mirror from a snapshot, set Origin.
// With Origin 0 the copy begins a new line of handles, and many of the server's are stale there.
//
// Like Refresh, CreateAt must have the Store to itself. It begins no phase: slices and pointers stay
// valid. It is O(1), amortized over the slots up to the highest index and those that Refresh frees.
func (s *Store[T]) CreateAt(h pool.Handle[T], v T) error {
	s.phase.begin("CreateAt")
	defer s.phase.end()
	if err := s.admits(h); err != nil {
		return err
	}
	s.mirrors = true
	s.provide(int(h.Index()))
	s.bringUp(h.Index())
	c, offset, sl := s.claim()
	c.values[offset], c.handles[offset] = v, h
	sl.begin(h.Generation()) // publishes the value
	return nil
}

// admits returns the error of CreateAt for h. If it returns nil, the slot of h waits, or does not exist
// yet.
func (s *Store[T]) admits(h pool.Handle[T]) error {
	s.fold()
	index, g := int64(h.Index()), h.Generation()
	limit := max(min(int64(s.capacity)+int64(s.exhausted), int64(s.slotLimit)), int64(s.used))
	switch {
	case g&1 == 0 || g > handle.Last:
		return fmt.Errorf("%w: CreateAt under %d, generation %d; %s", ErrHandle, index, g, nameOf[T]())
	case index >= limit:
		return fmt.Errorf("%w: CreateAt under %v: the index must be below %d; %s", ErrHandle, h, limit, nameOf[T]())
	}
	// A slot that Trim has freed, or that a copy lacks, may have had any generation below the stage fresh.
	var last uint32
	if s.fresh > 1 {
		last = s.origins.Generation(h.Index(), s.fresh) - 1
	}
	if index < int64(s.used) {
		sl := s.room.Load().slot(h.Index())
		if generation := sl.generation.Load(); generation > 0 {
			last = generation
		}
		if last <= g && (last&1 != 0 || !s.waitsAt(h.Index())) {
			return fmt.Errorf("%w: CreateAt under %v; %s", ErrLive, h, nameOf[T]())
		}
	}
	switch {
	case last >= g:
		return fmt.Errorf("%w: CreateAt under %v; %s", ErrStale, h, nameOf[T]())
	case s.tail.Load() >= s.limit:
		return s.full()
	}
	return nil
}

// provide makes the slots up to index that do not exist yet. They wait, and the lowest is used first.
func (s *Store[T]) provide(index int) {
	if index < s.used {
		return
	}
	d, waiting := s.room.Load(), (*s.waiting.Load())[:s.waits]
	for i := s.used; i <= index; i++ {
		d.growSlot(uint32(i))
	}
	for i := index; i >= s.used; i-- {
		waiting = append(waiting, uint32(i))
	}
	s.used = index + 1
	s.wait(waiting)
}

// bringUp exchanges the waiting slot with that at the top of the stack, so the next position gets it.
func (s *Store[T]) bringUp(index uint32) {
	s.waitsAt(index)
	d, w := s.room.Load(), (*s.waiting.Load())[:s.waits]
	rank, top := d.slot(index).position, len(w)-1
	w[rank], w[top] = w[top], w[rank]
	d.slot(w[rank]).position = rank
}

// waitsAt reports whether the slot waits. If it does, its field position has its rank afterwards. If
// not, its position is claimed, or it is exhausted.
//
// The naive way searches the stack. If Refresh kept all ranks up to date, it would write to each slot
// that it frees, also in stores that never ask. So waitsAt writes the ranks of the slots that have come
// to wait since the last call.
func (s *Store[T]) waitsAt(index uint32) bool {
	d, w := s.room.Load(), (*s.waiting.Load())[:s.waits]
	for ; s.ranked < len(w); s.ranked++ {
		d.slot(w[s.ranked]).position = uint32(s.ranked)
	}
	rank := uint64(d.slot(index).position)
	return rank < uint64(len(w)) && w[rank] == index
}
