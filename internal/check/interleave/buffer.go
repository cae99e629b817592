package interleave

import "unsafe"

// A processor keeps its stores in a buffer for a while before others see them, in
// order. A locked instruction waits until the buffer is empty, and an atomic Store
// is one on amd64; a release store is a plain store, behind which the thread goes on
// at once: it may load what others have not yet been told to have changed. That
// breaks protocols of Dekker's shape, so it is explored.
//
// Each [Thread] has a buffer for its release stores, first in, first out. Its own
// loads find what is in it. It is empty after every locked instruction of the
// thread (a TryLock that fails is none), and when the thread has ended. Until then
// a store drains, with those before it, when another thread is about to access
// its word: then the search chooses whether that came first. Nothing else can tell
// when a store drained, so nothing else is a choice. It costs no preemption: the
// switch to the other thread has.
//
// A release store is a step, but no switch before it matters: it is as good as one
// before the thread's next access with the store still in the buffer.
//
// Plain stores are not buffered. One that comes before a release store would drain
// before it, so whoever sees the release store sees it as well; and who looks at it
// otherwise has a data race, on which the race detector has its say. For the same
// reason one that comes after a release store may show before it: only to those who
// race. What the program under test notes for itself, in plain variables that all
// its threads read, is of that kind. It asks [Pending] whether others can know
// already, or calls [Drain] where it stands for something that synchronizes.
//
// Invariants are checked as if all buffers were empty, a state that every run can
// come to from where it is: what is in a buffer is in its thread's hands alone, and
// the thread takes it for done.

// pending is a store in a buffer.
type pending struct {
	word  unsafe.Pointer
	value uint64
}

// drained marks the step of a schedule that drains a store of a thread.
const drained = 1 << 7

// StoreRelease stores v in the word of the running thread's buffer. It does nothing
// and returns false outside of virtual threads.
func StoreRelease(word unsafe.Pointer, v uint64) bool {
	t := current
	if t == nil {
		return false
	}
	t.arrive(access{op: Release, word: word, a: v})
	t.buffer = append(t.buffer, pending{word, v})
	return true
}

// Forwarded returns what the running thread's buffer has for a word, if anything.
func Forwarded(word unsafe.Pointer) (v uint64, ok bool) {
	if t := current; t != nil {
		if i := t.newest(word); i >= 0 {
			return t.buffer[i].value, true
		}
	}
	return 0, false
}

// Pending reports whether another thread than the running one has a store to word
// in its buffer, of which the running one cannot know.
func Pending(word unsafe.Pointer) bool {
	if t := current; t != nil {
		for _, o := range t.run.threads {
			if o != t && o.newest(word) >= 0 {
				return true
			}
		}
	}
	return false
}

// Buffered reports whether another thread than the running one has any store in
// its buffer.
func Buffered() bool {
	if t := current; t != nil {
		for _, o := range t.run.threads {
			if o != t && len(o.buffer) > 0 {
				return true
			}
		}
	}
	return false
}

// Drain empties the running thread's buffer, as a locked instruction does.
func Drain() {
	if t := current; t != nil && len(t.buffer) > 0 {
		t.arrive(access{op: Fence})
	}
}

// newest returns where the newest store to word is in t's buffer, or -1.
func (t *Thread) newest(word unsafe.Pointer) int {
	for i := len(t.buffer) - 1; i >= 0; i-- {
		if t.buffer[i].word == word {
			return i
		}
	}
	return -1
}

// drain makes what t's buffer has.
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

// meet lets the search choose which stores of others to a word drain before t
// accesses it.
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
