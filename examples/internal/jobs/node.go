package jobs

import (
	"coatcheck/pool"

	"go.uber.org/atomic"
)

// handle names a node. The edges of the job graph are handles, not pointers. A node's
// slot is reused as soon as its job is done. Then an old handle is refused, where a
// pointer would reach the wrong job.
type handle = pool.Handle[node]

// task is the part of a node that never changes. The worker that runs it uses it in place.
type task struct {
	unit       *Unit  // the package
	file       int    // of a parse task: which of unit.Files
	parent     handle // of a parse task: the job of its package; zero in that job
	insertedBy int    // number of the worker
}

// node is a job or a task that is not done: the values of the pool.
//
// Several workers reach one node at once, those that finish its imports or its files. The field
// that they share is atomic. None of them needs a guard: a job is removed only
// by the worker that runs it, and only after all that it waits for has been counted down. So
// Pool.Pointer is right for that worker, and for the others until they have counted it down.
type node struct {
	task

	// waits counts what a package job waits for. Its files are not parsed before its imports
	// are checked, so as many as it has files means that its files can be parsed, and zero
	// that it can be checked.
	//
	//	writers  the workers that finish an import or a file
	//	readers  the same: one that makes the job ready sends it; and the worker that gets it
	//	moves    imports and files → files → 0, by ones
	//	orders   publishes what was checked and parsed to the worker that makes the job ready
	waits atomic.Int32

	// dependents are the package jobs that import this one. One goroutine appends them
	// before the workers start; from then on they are only read.
	dependents []handle
}
