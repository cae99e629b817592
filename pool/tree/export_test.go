package tree

import "coatcheck/pool"

// ErrTexts are the texts of the panics.
var ErrTexts = struct{ NilPool, NilLinks, NoLinks, Zero, Unpinned string }{nilPool, nilLinks, noLinks, zeroForest, unpinnedReader}

// Image returns the five links of every live node: parent, first, last, next, previous.
func Image[T any](f *Forest[T]) map[pool.Handle[T]][5]pool.Handle[T] {
	image := make(map[pool.Handle[T]][5]pool.Handle[T])
	g := f.pool.Pin()
	defer g.Unpin()
	for h, v := range g.All() {
		var links [5]pool.Handle[T]
		for i, w := range f.links(v).links() {
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
	f.look(h).links()[at].Store(uint64(to))
}

// Busy makes readers find a change under way, so that they take the lock, until quiet is
// called. The forest must not be changed meanwhile.
func Busy[T any](f *Forest[T]) (quiet func()) {
	f.version.Add(1)
	return func() { f.version.Add(1) }
}

// Changing reports whether a change has begun and not ended. Then readers of a moment take the lock.
func Changing[T any](f *Forest[T]) bool { return f.version.Load()%2 == 1 }

// Locked reports whether somebody has the lock of changes.
func Locked[T any](f *Forest[T]) bool {
	if f.mu.TryLock() {
		f.mu.Unlock()
		return false
	}
	return true
}

// Outside makes the forest call a function that finds links for each value, as if they lay elsewhere.
func Outside[T any](f *Forest[T], find func(*T) *Links[T]) { f.finder = finderOf(find) }

// Inside makes the forest look for the links at their offset again.
func Inside[T any](f *Forest[T]) { f.finder = nil }

// Stamp gives h the stamp of another pool's forest.
func Stamp[T any](f *Forest[T], h pool.Handle[T], stamp uint64) {
	g := f.pool.Pin()
	defer g.Unpin()
	f.look(h).stamp.Store(stamp)
}

// StampOf returns h's stamp.
func StampOf[T any](f *Forest[T], h pool.Handle[T]) uint64 {
	g := f.pool.Pin()
	defer g.Unpin()
	return f.look(h).stamp.Load()
}

// Ends returns of how many parents f remembers the ends of their lists, and how many of these were live when it
// last dropped the dead.
func Ends[T any](f *Forest[T]) (known, kept int) { return len(f.ends.known), f.ends.kept }

// Seqlocks returns how many pools have had a Forest and are not collected.
func Seqlocks() (n int) {
	seqlocks.Range(func(any, any) bool { n++; return true })
	return n
}

// The encoding of links.
var (
	AppendLinks = appendLinks
	ParseLinks  = parseLinks
)
