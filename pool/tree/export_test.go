package tree

import "coatcheck/pool"

// ErrTexts are the texts of the panics.
var ErrTexts = struct{ NilPool, NilLinks, NoLinks, Zero string }{nilPool, nilLinks, noLinks, zeroForest}

// Image returns the five links of every live node: parent, first, last, next, previous.
func Image[T any](f *Forest[T]) map[pool.Handle[T]][5]pool.Handle[T] {
	image := make(map[pool.Handle[T]][5]pool.Handle[T])
	g := f.pool.Pin()
	defer g.Unpin()
	for h, v := range g.All() {
		var links [5]pool.Handle[T]
		for i, w := range f.linksOf(v).all() {
			links[i] = load[T](w)
		}
		image[h] = links
	}
	return image
}

// Scramble sets link number at of h to another handle, as no operation would.
func Scramble[T any](f *Forest[T], h pool.Handle[T], at int, to pool.Handle[T]) {
	g := f.pool.Pin()
	defer g.Unpin()
	f.look(&g, h).all()[at].Store(uint64(to))
}

// Busy makes readers find a change under way, so that they take the lock, until quiet is
// called. The forest must not be changed meanwhile.
func Busy[T any](f *Forest[T]) (quiet func()) {
	f.version.Add(1)
	return func() { f.version.Add(1) }
}

// Age makes the Forest as old as one that has made n more changes.
func Age[T any](f *Forest[T], n uint64) { f.version.Add(2 * n) }

// Versions is how many changes use up a Forest's versions.
const Versions = versions / 2
