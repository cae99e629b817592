package trace

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Who began and who ended the last lives of each slot.

// Kept is how many lives of each slot are remembered: the last ones. A life costs about a
// hundred bytes.
const Kept = 4

// Lives remembers who began and who ended the last lives of each slot that was ever used.
// The zero Lives is empty.
//
// A life is identified by its handle, generation above index as package shard packs them.
// So of two lives of a slot the later one is greater.
type Lives struct {
	slots sync.Map // from an index to the slot's *history
}

// history is the last lives of a slot, in no order. Records may come out of order: a
// removal may be recorded after other goroutines have reused the slot.
type history struct {
	mu    sync.Mutex
	lives [Kept]life
}

type life struct {
	handle       uint64
	began, ended Event
}

// find returns the record of a life. If there is none, it makes one in the place of the oldest. It returns nil
// if the life is older than all that are kept.
func (hs *history) find(handle uint64) *life {
	oldest := &hs.lives[0]
	for i := range hs.lives {
		l := &hs.lives[i]
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

// Began records that the caller began a life. verb says how: "inserted".
func (l *Lives) Began(handle uint64, verb string) {
	e := Event{verb, time.Now(), callers()}
	l.note(handle, func(l *life) { l.began = e })
}

// Ended records that the caller ended it.
func (l *Lives) Ended(handle uint64, verb string) {
	e := Event{verb, time.Now(), callers()}
	l.note(handle, func(l *life) { l.ended = e })
}

// Dropped records that the garbage collector ended it.
func (l *Lives) Dropped(handle uint64, verb string) {
	e := Event{verb, time.Now(), nil}
	l.note(handle, func(l *life) { l.ended = e })
}

// note changes the record of a life, if there is room for one.
func (l *Lives) note(handle uint64, change func(*life)) {
	slot, ok := l.slots.Load(uint32(handle))
	if !ok {
		slot, _ = l.slots.LoadOrStore(uint32(handle), new(history))
	}
	hs := slot.(*history)
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if l := hs.find(handle); l != nil {
		change(l)
	}
}

// Last returns the handle of the slot's last life on record that began before the life of this handle, or 0.
func (l *Lives) Last(handle uint64) (last uint64) {
	slot, ok := l.slots.Load(uint32(handle))
	if !ok {
		return 0
	}
	hs := slot.(*history)
	hs.mu.Lock()
	defer hs.mu.Unlock()
	for i := range hs.lives {
		if h := hs.lives[i].handle; h < handle {
			last = max(last, h)
		}
	}
	return last
}

// Write appends who began a life and who ended it, as far as that is known. It reports whether any of it is
// known.
func (l *Lives) Write(b *strings.Builder, handle uint64) (known bool) {
	var found life
	if slot, ok := l.slots.Load(uint32(handle)); ok {
		hs := slot.(*history)
		hs.mu.Lock()
		if i := slices.IndexFunc(hs.lives[:], func(l life) bool { return l.handle == handle }); i >= 0 {
			found = hs.lives[i]
		}
		hs.mu.Unlock()
	}
	for _, e := range []Event{found.began, found.ended} {
		if e.happened() {
			known = true
			b.WriteString("\n")
			e.write(b, "")
		}
	}
	return known
}

// Written returns texts about values of a pool that were written to while their slots were vacant. Package pool
// sets it for package pooltest.
var Written func(pool any) []string
