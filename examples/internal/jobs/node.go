package jobs

import (
	"coatcheck/pool"

	"go.uber.org/atomic"
)

// handle names a node. The edges of the job graph are handles, not pointers. A node's
// slot is reused as soon as its job is done. Then an old handle is refused, where a
// pointer would reach the wrong job.
type handle = pool.Handle[node]

// kind tells what a node represents.
type kind uint8

const (
	packageJob kind = iota + 1 // check one package, once it is parsed and its imports are checked
	parseTask                  // parse one file of a package
)

// task is the part of a node that never changes. A worker copies it under a short pin,
// and uses the copy for the whole job. A pin held for that time would keep every slot
// removed meanwhile from reuse.
type task struct {
	kind       kind
	insertedBy int    // number of the worker
	unit       *Unit  // the package
	file       int    // of a parse task: which of unit.Files
	parent     handle // of a parse task: the job of its package
}

// node is a job or a task that is not done: the values of the pool.
//
// Several workers reach one node at once, those that finish its imports or its files. The
// pool ensures that they all reach the same job; the fields that they share are atomic.
type node struct {
	task

	// unmet counts the imports of a package job that are not checked.
	//
	//	writers  the workers that finish an import
	//	readers  the same: the worker that decrements it to zero makes the job ready
	//	moves    len(unit.Imports) → 0, by ones
	//	orders   publishes what the import's check wrote to the worker that reaches zero
	unmet atomic.Int32

	// unparsed counts the files of a package job that are not parsed.
	//
	//	writers  the workers that finish a file
	//	readers  the same: the worker that decrements it to zero checks the package
	//	moves    len(unit.Files) → 0, by ones
	//	orders   publishes the file's syntax tree to the worker that reaches zero
	unparsed atomic.Int32

	// dependents are the package jobs that import this one. One goroutine appends them
	// before the workers start; from then on they are only read.
	dependents []handle
}
