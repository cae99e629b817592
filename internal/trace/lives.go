package trace

import (
	"strings"
	"sync"
	"time"
)

// Kept is how many lives of each slot are remembered: the last ones. A life costs about a
// hundred bytes.
const Kept = 4

// stripes spreads the slots over locks.
const stripes = 64

// Lives remembers who began and who ended the last lives of each slot that was ever used.
// The zero Lives is empty.
//
// A life is identified by its handle, generation above index as package shard packs them.
// So of two lives of a slot the later one is greater.
type Lives struct {
	stripes [stripes]struct {
		mu    sync.Mutex
		slots map[uint32]*history
	}
}

// history is the last lives of a slot, in no order. Records may come out of order: a
// removal may be recorded after other goroutines have reused the slot.
type history [Kept]life

type life struct {
	handle       uint64
	began, ended Event
}

// of returns the record of a life. A new record replaces the oldest one. It returns nil
// if the life is older than all that are kept.
func (hs *history) of(handle uint64) *life {
	oldest := &hs[0]
	for i := range hs {
		l := &hs[i]
		if l.handle == handle {
			return l
		}
		if l.handle < oldest.handle {
			oldest = l
		}
	}
	if oldest.handle > handle {
		return nil
	}
	*oldest = life{handle: handle}
	return oldest
}

// Began records that the caller began a life. did says how: "inserted".
func (l *Lives) Began(handle uint64, did string) {
	e := Event{did, time.Now(), callers()}
	l.note(handle, func(l *life) { l.began = e })
}

// Ended records that the caller ended it.
func (l *Lives) Ended(handle uint64, did string) {
	e := Event{did, time.Now(), callers()}
	l.note(handle, func(l *life) { l.ended = e })
}

// Dropped records that the garbage collector ended it.
func (l *Lives) Dropped(handle uint64, did string) {
	e := Event{did, time.Now(), nil}
	l.note(handle, func(l *life) { l.ended = e })
}

func (l *Lives) note(handle uint64, change func(*life)) {
	s := &l.stripes[uint32(handle)%stripes]
	s.mu.Lock()
	defer s.mu.Unlock()
	hs := s.slots[uint32(handle)]
	if hs == nil {
		if s.slots == nil {
			s.slots = make(map[uint32]*history)
		}
		hs = new(history)
		s.slots[uint32(handle)] = hs
	}
	if l := hs.of(handle); l != nil {
		change(l)
	}
}

// Write appends who began a life and who ended it, as far as that is known. It reports
// whether anything is.
func (l *Lives) Write(b *strings.Builder, handle uint64) bool {
	s := &l.stripes[uint32(handle)%stripes]
	s.mu.Lock()
	var found life
	if hs := s.slots[uint32(handle)]; hs != nil {
		for i := range hs {
			if hs[i].handle == handle {
				found = hs[i]
			}
		}
	}
	s.mu.Unlock()
	known := false
	for _, e := range []Event{found.began, found.ended} {
		if e.happened() {
			known = true
			b.WriteString("\n")
			e.write(b, "")
		}
	}
	return known
}
