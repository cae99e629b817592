package interleave

import "unsafe"

// A processor keeps its stores in a buffer for a while before others see them, in order. A
// locked instruction waits until the buffer is empty, and an atomic Store is one on amd64. A
// release store is a plain store: the thread continues at once, and may load before others
// see the store. That breaks protocols of Dekker's shape, so it is explored.
//
// Each [Thread] has a buffer for its release stores, first in, first out, which its own
// loads read. A locked instruction of the thread empties it (a TryLock that fails is none),
// and so does the thread's end. A store may drain, after those before it, when another thread
// is about to access its word: then the search chooses which comes first. Nothing else can
// observe when a store drained, so nothing else is a choice. The choice costs no preemption,
// since the switch to the other thread already did.
//
// A release store is a step, but no switch before it matters. A switch before the thread's
// next access, with the store still in the buffer, has the same effect.
//
// Plain stores are not buffered. A plain store before a release store would drain before it,
// so a thread that sees the release store sees it too. A thread that reads it without that
// has a data race, which the race detector finds. A plain store after a release store may
// be seen before it, but also only by a data race. The tests of the program may have such
// races on purpose: variables of their own that all threads read. They call [Pending] to
// learn whether others can know of a store, or [Drain] instead of synchronization.
//
// Invariants are checked as if all buffers were empty, a state that every run can reach. A
// store in a buffer belongs to its thread alone, for which it has been done.

// pending is a store in a buffer.
type pending struct {
	word  unsafe.Pointer
	value uint64
}

// drained marks the step of a schedule that drains a store of a thread.
const drained = 1 << 7

// StoreRelease stores v for word in the running thread's buffer. Outside of virtual threads
// it does nothing and returns false.
func StoreRelease(word unsafe.Pointer, v uint64) bool {
	t := current
	if t == nil {
		return false
	}
	t.arrive(access{op: Release, word: word, a: v})
	t.buffer = append(t.buffer, pending{word, v})
	return true
}

// Forwarded returns the newest value for a word in the running thread's buffer, if any.
func Forwarded(word unsafe.Pointer) (v uint64, ok bool) {
	if t := current; t != nil {
		if i := t.newest(word); i >= 0 {
			return t.buffer[i].value, true
		}
	}
	return 0, false
}

// Pending reports whether another thread has a store to word in its buffer, which the running
// thread cannot observe.
func Pending(word unsafe.Pointer) bool {
	return others(func(o *Thread) bool { return o.newest(word) >= 0 })
}

// Buffered reports whether another thread has any store in its buffer, and a Thread's Buffered
// whether that thread has.
func Buffered() bool             { return others((*Thread).Buffered) }
func (t *Thread) Buffered() bool { return len(t.buffer) > 0 }

// Drain empties the running thread's buffer, as a locked instruction does.
func Drain() {
	if t := current; t != nil && len(t.buffer) > 0 {
		t.arrive(access{op: Fence})
	}
}

// newest returns the index of the newest store to word in t's buffer, or -1.
func (t *Thread) newest(word unsafe.Pointer) int {
	for i := len(t.buffer) - 1; i >= 0; i-- {
		if t.buffer[i].word == word {
			return i
		}
	}
	return -1
}

// drain makes all stores in t's buffer.
func (r *Run) drain(t *Thread) {
	for len(t.buffer) > 0 {
		r.meet(t, t.buffer[0].word)
		r.drainOne(t)
	}
}

// drainOne makes the oldest store in t's buffer and returns its word.
func (r *Run) drainOne(t *Thread) unsafe.Pointer {
	p := t.buffer[0]
	t.buffer = t.buffer[1:]
	*(*uint64)(p.word) = p.value
	r.picker.accessed(r, t, access{Store, p.word, p.value, 0})
	if r.tracing {
		r.events = append(r.events, event{thread: t, op: t.op, access: access{drains, p.word, p.value, 0}})
	}
	return p.word
}

// meet lets the picker choose which stores of others to a word drain before t accesses it.
func (r *Run) meet(t *Thread, word unsafe.Pointer) {
	for _, o := range r.threads {
		if o == t {
			continue
		}
		for o.newest(word) >= 0 && r.picker.drains(r, o) {
			for more := true; more; {
				r.steps++
				r.schedule = append(r.schedule, uint8(o.id)|drained)
				more = r.drainOne(o) != word
			}
		}
	}
}

// settled calls f as if all buffers were empty.
func (r *Run) settled(f func() error) error {
	was := r.was[:0]
	for _, t := range r.threads {
		for _, p := range t.buffer {
			was = append(was, pending{p.word, *(*uint64)(p.word)})
			*(*uint64)(p.word) = p.value
		}
	}
	err := f()
	for i := len(was) - 1; i >= 0; i-- {
		*(*uint64)(was[i].word) = was[i].value
	}
	r.was = was
	return err
}
