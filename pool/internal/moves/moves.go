// Package moves has the functions that programs register to learn where values have moved, for the
// structures whose values move.
package moves

import "slices"

// Functions are registered functions. K names a value, and I is a position.
//
// The structure calls Add, and what Add returns, only while nothing else uses it, and not from a
// function that Tell calls.
type Functions[K any, I ~int] struct{ all []*func(k K, from, to I) }

// Add registers f, and returns a function that takes it back. A second call of that changes nothing.
func (fs *Functions[K, I]) Add(f func(k K, from, to I)) (stop func()) {
	at := &f // functions cannot be compared
	fs.all = append(fs.all, at)
	return func() {
		fs.all = slices.DeleteFunc(fs.all, func(other *func(K, I, I)) bool { return other == at })
	}
}

// Any reports whether there is a function to tell.
func (fs *Functions[K, I]) Any() bool { return len(fs.all) > 0 }

// Tell calls the functions, in the order of their registration. If one panics, later ones are not
// called.
func (fs *Functions[K, I]) Tell(k K, from, to I) {
	for _, f := range fs.all {
		(*f)(k, from, to)
	}
}

// Cycles calls move so that each element from[i] of an array comes to i. Each call may overwrite
// what is at to: it has been moved. In each cycle the first element is moved aside, to
// len(from), and from there at the end. It overwrites from.
func Cycles[I ~int | ~uint32](from []I, move func(from, to int)) {
	for first := range from {
		if int(from[first]) == first {
			continue
		}
		move(first, len(from))
		to := first
		for int(from[to]) != first {
			next := int(from[to])
			move(next, to)
			from[to] = I(to)
			to = next
		}
		move(len(from), to)
		from[to] = I(to)
	}
}
