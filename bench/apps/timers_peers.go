package apps

import (
	"sync"
)

// pointerTimer is in the list of a bucket, and under its mutex. waits says that it has neither been
// stopped nor fired, since a pointer does not tell.
type pointerTimer struct {
	prev, next *pointerTimer
	connection uint32
	waits      bool
}

type pointerWheel struct {
	buckets [ticks]struct {
		mu    sync.Mutex
		first *pointerTimer
	}
}

func (w *pointerWheel) start(connection, due uint32) *pointerTimer {
	b := &w.buckets[due%ticks]
	b.mu.Lock()
	defer b.mu.Unlock()
	t := &pointerTimer{next: b.first, connection: connection, waits: true}
	if b.first != nil {
		b.first.prev = t
	}
	b.first = t
	return t
}

func (w *pointerWheel) stop(t *pointerTimer, due uint32) bool {
	b := &w.buckets[due%ticks]
	b.mu.Lock()
	defer b.mu.Unlock()
	if !t.waits {
		return false // it has fired
	}
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		b.first = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	}
	t.prev, t.next, t.waits = nil, nil, false
	return true
}

func (w *pointerWheel) fire(tick uint32) (n uint64) {
	b := &w.buckets[tick%ticks]
	b.mu.Lock()
	defer b.mu.Unlock()
	for t := b.first; t != nil; n++ {
		next := t.next
		t.prev, t.next, t.waits = nil, nil, false
		t = next
	}
	b.first = nil
	return n
}

// namedWheel has the connections of timers in a map, and their keys in the buckets. To unlink a
// timer would take a look-up of both neighbours, so a stopped one stays in its bucket.
type namedWheel struct {
	all     named[uint32]
	buckets [ticks]struct {
		mu   sync.Mutex
		keys []uint64
	}
}

func (w *namedWheel) start(connection, due uint32) uint64 {
	key, b := w.all.insert(connection), &w.buckets[due%ticks]
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keys = append(b.keys, key)
	return key
}

func (w *namedWheel) stop(key uint64, _ uint32) bool {
	_, ok := w.all.remove(key)
	return ok
}

func (w *namedWheel) fire(tick uint32) (n uint64) {
	b := &w.buckets[tick%ticks]
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range b.keys {
		if _, ok := w.all.remove(key); ok {
			n++
		}
	}
	b.keys = b.keys[:0]
	return n
}
