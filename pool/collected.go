package pool

import "runtime"

// A life tells that its owner, which alone refers to it, is unreachable. Then the runtime calls dropped twice,
// from two goroutines of its own: from the finalizer of one object, and from the cleanup of another. Each
// of them fails where the other does not, and both faults are of the program or of Go, not of the pool:
//
//   - All finalizers of a program run on one goroutine. If any of them blocks, no other runs.
//   - Cleanups run on one goroutine for four processors, and so stop when some of the program's block. And
//     up to Go 1.26 those that the sweeper has queued on a processor are left undone when GOMAXPROCS,
//     or a container's new limit, takes that processor away, until it comes back.
//
// On Go 1.24 cleanups run on the goroutine of finalizers, so there a program's finalizer must not block.
//
// The price is 8 allocations for 63 Reservations instead of 4, and 3 small ones a cycle for a pool with a sentinel.
//
// dropped must not refer to the owner, nor strongly to what may refer to it, or that stays reachable. It must bear
// two calls at once, and calls for other owners beside them. It must not block nor run user code: a program's
// other finalizers and cleanups wait for it, and a panic would end the program.
type life struct {
	last    *finalized
	cleanup runtime.Cleanup
}

// finalized is the object with the finalizer. It is apart from the object with the cleanup, which would wait
// for the finalizer of its own object. Only the life refers to it, so one cycle finds both.
type finalized struct{ dropped func() }

func newLife(dropped func()) *life {
	l := &life{last: &finalized{dropped}}
	runtime.SetFinalizer(l.last, func(f *finalized) { f.dropped() })
	l.cleanup = runtime.AddCleanup(l, func(dropped func()) { dropped() }, dropped)
	return l
}

// end is for an owner that ends by itself. dropped is not called any more. A nil life has nothing to end.
func (l *life) end() {
	if l == nil {
		return
	}
	runtime.SetFinalizer(l.last, nil)
	l.cleanup.Stop()
	runtime.KeepAlive(l) // or the collector might have queued a call before
}

// A sentinel is what nothing refers to, so the runtime tells after each cycle that it is unreachable. Then it
// calls cycle, and is set again if that returns true.
type sentinel struct{ cycle func() bool }

// eachCycle calls f after each cycle of the garbage collector, as long as it returns true. Like a life it
// tells twice, by two sentinels that do not know of each other. f must keep the rules of dropped.
func eachCycle(f func() bool) {
	s := &sentinel{f}
	runtime.SetFinalizer(s, (*sentinel).finalized)
	s.clean()
}

// finalized is the finalizer of a sentinel.
func (s *sentinel) finalized() {
	if s.cycle() {
		runtime.SetFinalizer(s, (*sentinel).finalized)
	}
}

// clean makes a sentinel with a cleanup. A cleanup's object is freed, so each cycle takes another.
func (s *sentinel) clean() {
	runtime.AddCleanup(&sentinel{s.cycle}, func(cycle func() bool) {
		if cycle() {
			(&sentinel{cycle}).clean()
		}
	}, s.cycle)
}
