package cgohandle

import (
	"runtime"

	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// tally counts the live handles of a table, so that Len need not visit every slot.
//
// Goroutines that count at once use different stripes, as far as their hints differ: each
// would wait for the others' cache line otherwise, which costs several times the count. A
// handle may be counted in one stripe and its end in another, so only the sum means anything.
type tally []stripe

// stripe has a cache line, and the one that processors fetch with it, to itself.
type stripe struct {
	// n is handles that were made, less those that were deleted, by what uses this stripe.
	//
	//	writers  any goroutine that has made or deleted a handle
	//	readers  Len
	//	orders   nothing: it is no part of the pool
	n atom.Int64
	_ [120]byte
}

// stripesPerProc makes it rare that two goroutines have one stripe: of as many as there are
// processors, one in eight has it with another. They take 1 KiB a processor.
const stripesPerProc = 8

func makeTally() tally { return make(tally, stripesPerProc*runtime.GOMAXPROCS(0)) }

// add counts n.
func (c tally) add(n int64) { c[hint.Index(hint.Goroutine(), len(c))].n.Add(n) }

// sum returns the count, exactly if nobody counts meanwhile. Else it may have the end of a
// handle whose beginning came to a stripe that was read before: hence the 0.
func (c tally) sum() int {
	sum := int64(0)
	for i := range c {
		sum += c[i].n.Load()
	}
	return int(max(0, sum))
}
