package main

import (
	"coatcheck/pool"

	"go.uber.org/atomic"
)

// handle names a node. The edges of the job graph are handles, not pointers: a
// node's slot serves another job as soon as its own is done, and a handle that
// was kept too long is refused where a pointer would reach the wrong job.
type handle = pool.Handle[node]

// kind tells what a node stands for.
type kind uint8

const (
	packageJob kind = iota + 1 // check one package, once it is parsed and its imports are checked
	parseTask                  // parse one file of a package
)

// task is the part of a node that never changes: a worker copies it out under a
// short pin, and works on the copy for as long as the job takes. A pin that were
// held meanwhile would keep every slot that is removed in that time from reuse.
type task struct {
	kind       kind
	insertedBy int    // number of the worker
	unit       *unit  // the package
	file       int    // of a parse task: which of unit.files
	parent     handle // of a parse task: the job of its package
}

// node is what lives in the pool: a job or a task that is not done.
//
// Several workers reach one node at once, those that finish its imports or its
// files. The pool makes sure that they all mean the same job; what they share
// in it is theirs to order, so it is atomic.
type node struct {
	task

	// unmet counts the imports of a package job that are not checked.
	//
	//	writers  the workers that finish an import
	//	readers  the same: whoever brings it to zero makes the job ready
	//	moves    len(unit.imports) → 0, by ones
	//	orders   publishes what the import's check wrote to whoever meets zero
	unmet atomic.Int32

	// unparsed counts the files of a package job that are not parsed.
	//
	//	writers  the workers that finish a file
	//	readers  the same: whoever brings it to zero goes on to the check
	//	moves    len(unit.files) → 0, by ones
	//	orders   publishes the file's syntax tree to whoever meets zero
	unparsed atomic.Int32

	// dependents are the package jobs that import this one. They are appended
	// before the workers start, by one goroutine, and only read since.
	dependents []handle
}
