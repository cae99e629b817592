package tree

import "errors"

// A method that returns one of these errors has changed nothing.
var (
	// ErrStale means that a handle names no live value of the pool: it is stale, zero, or another
	// pool's.
	ErrStale = errors.New("tree: the handle is stale")

	// ErrHasParent means that the node that was to get a parent already has one. Use Move for it.
	ErrHasParent = errors.New("tree: the node has a parent already")

	// ErrNoParent means that a node was to become the sibling of a root.
	ErrNoParent = errors.New("tree: the sibling has no parent")

	// ErrCycle means that a node would become its own ancestor or sibling.
	ErrCycle = errors.New("tree: the node would lie below itself")

	// ErrHasChildren means that a node was to be removed as a leaf and has children.
	ErrHasChildren = errors.New("tree: the node has children")

	// ErrBroken means that a node was removed behind the forest's back: an ancestor, or a
	// neighbour whose links must change. It may also mean that the links of two neighbours
	// disagree. Repair fixes both.
	ErrBroken = errors.New("tree: a neighbour was removed behind the forest's back; Repair fixes it")
)

// Texts of panics.
const (
	nilPool    = "tree: New without a pool"
	nilLinks   = "tree: New without a function that finds the links"
	noLinks    = "tree: the function given to New returned nil"
	zeroForest = "tree: use of a zero Forest; make one with New"

	unpinnedReader = "tree: use of a Reader after Unpin, or of a zero one; get one from Pin or Phase"
)
