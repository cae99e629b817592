package tree

import (
	"fmt"
	"runtime"
	"sync"
	"weak"

	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// Forest is the trees that the values of a pool form by one Links field. Every value of the pool
// is a node, at first a root without children.
//
// Any number of goroutines may call any of its methods at once. Changes exclude each other; reads
// run beside them, as the package documentation says. The function that finds the links, the pool's
// Reset, and its OnInsert and OnRemove must not use a Forest of the pool.
//
// [New] returns a Forest; the zero Forest panics. It must not be copied. It takes only 48 bytes,
// because the links are in the values, and 56 for each live parent of which Append or Prepend has found the
// child at the end removed behind the forest's back. A pool may have one for each Links field of T, or more.
// Two with the same field see each other's changes. All Forests of a pool share one lock.
type Forest[T any] struct {
	pool *pool.Pool[T]
	field[T]
	*seqlock
	ends ends[T]
}

// String returns the type of f and its pool, in a text for people.
func (f *Forest[T]) String() string { return fmt.Sprintf("%T of a %v", f, f.pool) }

// The words of this package:
//
//	node     a value of the pool. Its five links have the handles of its neighbours, or 0
//	list     the children of a node, in order, linked by next and prev
//	top      the node below which a walk goes
//	change   a call that links or unlinks nodes. It holds mu, and the version is odd meanwhile
//	stamp    of a node: the version during the last change that linked or unlinked it
//	spot     a place in a list: between two neighbours, or at an end
//	gap      what a node leaves in its list that was removed behind the forest's back
//	dead     of such a node, as long as links name it
//	old      to a walk: a node that has kept its place since the walk began; others are new

// seqlock orders the changes of all Forests of a pool.
//
// The naive seqlock belongs to one Forest. Then two Forests with the same field would not see each
// other's changes. A walk of the older one would take stamps of the younger one for changes since the
// walk began, and pass over all that the younger has linked.
type seqlock struct {
	// mu is held by a change, and by a reader whose step changes have disturbed too often.
	mu atom.Mutex

	// version is even when no link is being changed, and odd while one is.
	//
	//	writers  the holder of mu
	//	readers  every reader
	//	moves    up, by one at the beginning of a change and one at its end
	//	orders   two loads that return the same even version prove that the links
	//	         loaded between them are those of one moment
	version atom.Uint64
}

// seqlocks has the seqlock of every pool that has had a Forest, by a weak pointer to the
// pool, until the pool is collected.
var seqlocks sync.Map

// seqlockOf returns the seqlock of a pool, and makes it for the first Forest.
func seqlockOf[T any](p *pool.Pool[T]) *seqlock {
	key := weak.Make(p)
	s, known := seqlocks.Load(key)
	if !known {
		if s, known = seqlocks.LoadOrStore(key, new(seqlock)); !known {
			runtime.AddCleanup(p, func(key weak.Pointer[pool.Pool[T]]) { seqlocks.Delete(key) }, key)
		}
	}
	return s.(*seqlock)
}

// New returns the Forest of the values of p by the links that the function finds:
//
//	f := tree.New(p, func(n *Node) *tree.Links[Node] { return &n.Links })
//
// The function must find the same field in each value. New calls it with a zero T: if its result lies
// in that T, it is not called again. It may also lead to links outside the value, as in a Pool[*T]; then it is called for each
// look at a node, and steps cost several times as much.
//
// The links may be set already, as in a pool that was read from a snapshot. A second Forest with
// the same links sees what the first does. New panics if p or links is nil, and every method
// panics if links returns nil for a value.
func New[T any](p *pool.Pool[T], links func(*T) *Links[T]) *Forest[T] {
	switch {
	case p == nil:
		panic(nilPool)
	case links == nil:
		panic(nilLinks)
	}
	return &Forest[T]{pool: p, field: fieldOf(links), seqlock: seqlockOf(p)}
}

// lock locks the forest for a change.
func (f *Forest[T]) lock() {
	if f.pool == nil {
		panic(zeroForest)
	}
	f.mu.Lock()
}

// guard pins the pool.
func (f *Forest[T]) guard() pool.Guard[T] {
	if f.pool == nil {
		panic(zeroForest)
	}
	return f.pool.Pin()
}

// look returns the links of h, or nil if it is not live. The caller has pinned the pool, or is in a
// phase, so the slot is not used again while the caller looks at the links.
func (f *Forest[T]) look(h pool.Handle[T]) *words[T] {
	v, _ := f.pool.Pointer(h)
	if v == nil {
		return nil
	}
	return f.links(v)
}

// change begins a change, and returns its stamp. Until changed ends it, links may disagree. The caller
// holds mu. Nothing may panic meanwhile, so the caller looks up all nodes before.
func (f *Forest[T]) change() (stamp uint64) {
	stamp = f.version.Load() + 1
	return store(&f.version, stamp)
}

// changed ends a change.
func (f *Forest[T]) changed() { store(&f.version, f.version.Load()+1) }

// inlined makes the bodies of atomics' methods available to packages that instantiate
// this one (see package atom). Nothing calls it.
func inlined(w *atom.Uint64) bool { return atom.InlineUint64(w) }

var _ = inlined
