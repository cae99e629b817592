package tree

import (
	"sync/atomic"

	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// Forest is the trees that the values of a pool form by one Links field. Every value
// of the pool is a node of it, at first a root without children.
//
// Any number of goroutines may call any of its methods at once. Those that change the
// forest exclude each other; those that read run beside them, as the package
// documentation says. Neither the function that finds the links nor the pool's Reset may
// use the Forest.
//
// A Forest has only a pointer to the pool: the links are in the values. It costs some 32
// bytes and must not be copied. A pool has as many as T has Links fields. Two Forests
// with the same field must not be used at the same time, but one may replace the other.
// The zero Forest panics.
type Forest[T any] struct {
	pool  *pool.Pool[T]
	links func(*T) *Links[T]

	// mu is held by a call that changes links, and by a reader for a step that changes
	// have invalidated too often.
	mu atom.Mutex

	// version is even when no link is being changed, and odd while one is.
	//
	//	writers  the holder of mu
	//	readers  every reader
	//	moves    up, by one at the beginning of a change and one at its end; by more
	//	         when all versions are used up
	//	orders   two loads that return the same even version prove that the links
	//	         loaded between them existed at one moment
	version atom.Uint64
}

// forests counts the Forests made. So the stamps of one that was dropped are less than
// the versions of the next.
var forests atomic.Uint64

// versions is how many versions a Forest has, two a change, before it reaches those of
// the Forest that may replace it. A Forest that has used them up takes the range of a new
// Forest.
const versions = 1 << 32

// New returns the Forest of the values of p by the links that the function finds:
//
//	f := tree.New(p, func(n *Node) *tree.Links[Node] { return &n.Links })
//
// The links may exist already, as in a pool that was read from a snapshot. New panics if
// p or links is nil, and all methods do if links returns nil.
func New[T any](p *pool.Pool[T], links func(*T) *Links[T]) *Forest[T] {
	switch {
	case p == nil:
		panic(nilPool)
	case links == nil:
		panic(nilLinks)
	}
	f := &Forest[T]{pool: p, links: links}
	f.version.Store(forests.Add(1) * versions)
	return f
}

// pin pins the pool: what is looked up stays that incarnation, removed or not.
func (f *Forest[T]) pin() pool.Guard[T] {
	if f.pool == nil {
		panic(zeroForest)
	}
	return f.pool.Pin()
}

// look returns the links of h, or nil if it is not live.
func (f *Forest[T]) look(g *pool.Guard[T], h pool.Handle[T]) *words[T] {
	_, w := f.find(g, h)
	return w
}

// find returns a value and its links, or nil if it is not live.
func (f *Forest[T]) find(g *pool.Guard[T], h pool.Handle[T]) (*T, *words[T]) {
	v, ok := g.Get(h)
	if !ok {
		return nil, nil
	}
	return v, f.linksOf(v)
}

func (f *Forest[T]) linksOf(v *T) *words[T] {
	l := f.links(v)
	if l == nil {
		panic(noLinks)
	}
	return &l.Words
}

// change begins a change, during which links may disagree, and returns its stamp. The
// caller holds mu. Nothing between this and changed may panic, so everything is looked up
// before.
func (f *Forest[T]) change() (stamp uint64) {
	stamp = f.version.Load() + 1
	f.version.Store(stamp)
	return stamp
}

// changed ends a change.
func (f *Forest[T]) changed() {
	next := f.version.Load() + 1
	if next%versions == 0 { // used up: the following ones are the next Forest's
		next = forests.Add(1) * versions
	}
	f.version.Store(next)
}

// inlined makes the bodies of atomics' methods available to packages that instantiate
// this one (see package atom). Nothing calls it.
func inlined(w *atom.Uint64) bool { return atom.InlineUint64(w) }

var _ = inlined
