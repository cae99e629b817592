package tree

import "errors"

// When one of these is returned, nothing has changed.
var (
	// ErrStale says that a handle names no live value of the pool: it is stale,
	// zero, or another pool's.
	ErrStale = errors.New("tree: the handle is stale")

	// ErrHasParent says that a node which was to be given a parent has one. Move
	// is for that.
	ErrHasParent = errors.New("tree: the node has a parent already")

	// ErrNoParent says that a node was to become the sibling of a root.
	ErrNoParent = errors.New("tree: the sibling has no parent")

	// ErrCycle says that a node would come to lie below itself.
	ErrCycle = errors.New("tree: the node would lie below itself")

	// ErrBroken says that a neighbour whose links have to be changed, or an
	// ancestor on the way up, was removed behind the forest's back, or that the
	// links of two neighbours disagree. Repair mends both.
	ErrBroken = errors.New("tree: a neighbour was removed behind the forest's back; Repair mends it")
)

// Texts of panics.
const (
	nilPool    = "tree: New without a pool"
	nilLinks   = "tree: New without a function that finds the links"
	nilEnter   = "tree: DescendantsFunc without a function"
	noLinks    = "tree: the function that was given to New found no links: it returned nil"
	zeroForest = "tree: use of a zero Forest; make one with New"
)
