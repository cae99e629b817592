package interleave

import (
	"fmt"
	"iter"
	"runtime/debug"
	"slices"
	"unsafe"
)

// Op is a kind of access.
type Op uint8

const (
	Start Op = iota // a thread's first step, up to its first access
	Load
	Store
	Release // into the thread's buffer
	Add
	Swap
	CompareAndSwap
	And
	Or
	Fence // empties the thread's buffer, without an access
	Lock
	TryLock
	Unlock
	Point  // a switch may be here, without an access
	Yield  // the thread lets others run first
	drains // a store in a buffer drains
)

var opNames = [...]string{"start", "Load", "Store", "release", "Add", "Swap", "CAS", "And", "Or", "fence", "Lock", "TryLock", "Unlock", "pause", "yield", "drains"}

func (o Op) String() string { return opNames[o] }

// reads reports whether accesses of this kind do not change the word.
func (o Op) reads() bool { return o == Load }

// empties reports whether an access of this kind empties the thread's buffer first: a locked
// instruction does, and a call of the scheduler, which has some.
func (o Op) empties() bool {
	switch o {
	case Start, Load, Release, TryLock, Point:
		return false
	}
	return true
}

// access is an access that a thread is about to make.
type access struct {
	op   Op
	word unsafe.Pointer
	a, b uint64
}

// current is the running thread. It is nil outside of runs, while a run decides, and while it
// checks invariants, so that hooks do nothing then. It is a plain variable, since threads are
// coroutines.
var current *Thread

// Before announces an access: another thread may run before it returns. Outside of virtual
// threads it does nothing.
func Before(op Op, word unsafe.Pointer, a, b uint64) {
	if t := current; t != nil {
		if t.run.tracing {
			t.place = place()
		}
		t.arrive(access{op, word, a, b})
	}
}

// After records the result of the last announced access.
func After(result uint64) {
	t := current
	if t == nil {
		return
	}
	if t.run.tracing {
		t.run.events[len(t.run.events)-1].result = result
	}
}

// Number returns a number for a pointer in the record, the same each time a run is repeated:
// pointers are numbered in order of appearance, and nil is 0.
func Number(p unsafe.Pointer) uint64 {
	t := current
	if t == nil || !t.run.tracing || p == nil {
		return 0
	}
	return t.run.number(p)
}

func (r *Run) number(p unsafe.Pointer) uint64 {
	n, ok := r.numbers[p]
	if !ok {
		n = uint64(len(r.numbers) + 1)
		r.numbers[p] = n
	}
	return n
}

// Unseen calls f with hooks off and as if all buffers were empty. Its accesses are no part of
// the run.
func Unseen(f func()) {
	t := current
	current = nil
	if t == nil {
		f()
		return
	}
	_ = t.run.settled(func() error { f(); return nil })
	current = t
}

// LockMutex locks the mutex at word for the running thread, which waits until the mutex is
// unlocked. It returns false outside of virtual threads.
func LockMutex(word unsafe.Pointer) bool {
	t := current
	if t == nil {
		return false
	}
	t.arrive(access{op: Lock, word: word})
	t.run.held[word] = t
	return true
}

// TryLockMutex is LockMutex that does not wait. on reports whether it was called on a virtual
// thread.
func TryLockMutex(word unsafe.Pointer) (locked, on bool) {
	t := current
	if t == nil {
		return false, false
	}
	t.arrive(access{op: TryLock, word: word})
	if t.run.held[word] != nil {
		return false, true
	}
	current = nil // to find a word's name may load hooked words
	t.run.drain(t)
	current = t
	t.run.held[word] = t
	return true, true
}

// UnlockMutex unlocks the mutex at word. It returns false outside of virtual threads.
func UnlockMutex(word unsafe.Pointer) bool {
	t := current
	if t == nil {
		return false
	}
	t.arrive(access{op: Unlock, word: word})
	if t.run.held[word] == nil {
		panic("interleave: Unlock of an unlocked mutex")
	}
	delete(t.run.held, word)
	return true
}

// Locked reports whether a thread has locked the mutex at word.
func (r *Run) Locked(word unsafe.Pointer) bool { return r.held[word] != nil }

// Hint returns the running thread's number instead of a goroutine's hint, and 0 outside of
// virtual threads.
func Hint() uint32 {
	if t := current; t != nil {
		return t.hint
	}
	return 0
}

// Running returns the running thread, nil outside of virtual threads.
func Running() *Thread { return current }

// Alone reports whether every other thread of the run has ended. It is true outside of virtual
// threads.
func Alone() bool { return !others(func(o *Thread) bool { return !o.done }) }

// others reports whether any other thread of the run is so. It is false outside of virtual
// threads.
func others(is func(o *Thread) bool) bool {
	t := current
	return t != nil && slices.ContainsFunc(t.run.threads, func(o *Thread) bool { return o != t && is(o) })
}

// Thread is one virtual thread of a run.
type Thread struct {
	run  *Run
	id   int
	name string
	hint uint32

	resume func() (struct{}, bool)
	yield  func(struct{}) bool

	next   access // its next access
	made   Op     // its last access
	done   bool
	buffer []pending

	// ran has a bit for each thread that has made a step since this one last yielded.
	ran uint32

	place  string // where in the source its next access is, if the run is recorded
	op     string // the current operation, "" for none
	inside int    // accesses of op so far
}

// Go adds a thread to the run. hint replaces the hash of its goroutine.
func (r *Run) Go(name string, hint uint32, body func(t *Thread)) {
	t := &Thread{run: r, id: len(r.threads), name: name, hint: hint}
	t.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		defer t.end()
		defer Drain() // also when body exits
		body(t)
	})
	r.threads = append(r.threads, t)
}

// end ends the thread's last step.
func (t *Thread) end() {
	current = nil
	t.done, t.op = true, ""
	if v := recover(); v != nil {
		t.run.Panicf("panic in thread %s: %v\n%s", t.name, v, debug.Stack())
	}
	t.run.decide(t)
}

// arrive ends a step of t before its next access, and returns when t may make that.
func (t *Thread) arrive(next access) {
	r := t.run
	current = nil
	t.next = next
	if r.decide(t); r.next != t {
		t.yield(struct{}{})
	} else {
		r.grant(t)
	}
	current = t
}

// Begin marks the begin of an operation, and End its end: switches between its accesses are
// inside it. Both do nothing for a nil Thread, which stands for code that is not explored.
func (t *Thread) Begin(op string) {
	if t != nil {
		t.op, t.inside = op, 0
	}
}

// End ends the operation.
func (t *Thread) End() {
	if t != nil {
		t.op = ""
	}
}

// Pause lets the schedule switch to another thread, without an access.
func Pause() { Before(Point, nil, 0, 0) }

// LetOthers lets other threads run first, if any is ready. A loop that waits must call it in
// each turn. A thread does not return from a second call before every other ready thread has
// made a step since the first. So several such loops do not starve the thread that they wait
// for (after Musuvathi's and Qadeer's fair scheduler).
func LetOthers() { Before(Yield, nil, 0, 0) }

// Notef adds a line to the record of the run.
func (t *Thread) Notef(format string, args ...any) {
	if t != nil && t.run.tracing {
		t.run.note(t, fmt.Sprintf(format, args...))
	}
}
