// Package moves has the functions that programs register with structures whose values move.
package moves

import "slices"

// List has registered functions of type F.
//
// The structure calls Add, and what Add returns, only while nothing else uses it, and not from a
// function that Each calls.
type List[F any] struct{ all []*F }

// Add registers f, and returns a function that takes it back. A second call of that changes nothing.
func (l *List[F]) Add(f F) (stop func()) {
	at := &f // functions cannot be compared
	l.all = append(l.all, at)
	return func() {
		l.all = slices.DeleteFunc(l.all, func(other *F) bool { return other == at })
	}
}

// Any reports whether there is a function.
func (l *List[F]) Any() bool { return len(l.all) > 0 }

// Each calls call with the functions, in the order of their registration. If one panics, later ones are not
// called.
func (l *List[F]) Each(call func(F)) {
	for _, f := range l.all {
		call(*f)
	}
}

// Functions are those that learn where values have moved. K names a value, and I is a position.
type Functions[K any, I ~int] struct{ List[func(k K, from, to I)] }

// Tell calls the functions as Each does.
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
