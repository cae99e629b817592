// Package moves has the functions that programs register with structures whose values move.
package moves

import "slices"

// List has the registered functions of type F.
//
// The structure calls Add, and the functions that Add returns, only while nothing else uses the List, and
// not from a function that Each calls.
type List[F any] struct{ list []*F }

// Add registers f, and returns a function that takes it back. To call that a second time changes nothing.
func (l *List[F]) Add(f F) (stop func()) {
	registered := &f // functions cannot be compared
	l.list = append(l.list, registered)
	return func() {
		l.list = slices.DeleteFunc(l.list, func(p *F) bool { return p == registered })
	}
}

// Any reports whether there is a function.
func (l *List[F]) Any() bool { return len(l.list) > 0 }

// Each calls call with the functions, in the order of their registration. If one panics, later ones are not
// called.
func (l *List[F]) Each(call func(F)) {
	for _, f := range l.list {
		call(*f)
	}
}

// Functions has the functions that hear where values have moved. K names a value, and I is a position.
type Functions[K any, I ~int] struct{ List[func(k K, src, dst I)] }

// Tell calls the functions as Each does.
func (fs *Functions[K, I]) Tell(k K, src, dst I) {
	for _, f := range fs.list {
		(*f)(k, src, dst)
	}
}

// Cycles calls move so that each element order[i] of an array comes to i. A call may overwrite the element at
// dst, because that has moved already. Cycles goes through one cycle of the permutation after the other. It
// first moves an element aside, to len(order), and from there to its place at the end. It overwrites order.
func Cycles[I ~int | ~uint32](order []I, move func(src, dst int)) {
	for first := range order {
		if int(order[first]) == first {
			continue
		}
		move(first, len(order))
		hole := first
		for int(order[hole]) != first {
			next := int(order[hole])
			move(next, hole)
			order[hole] = I(hole)
			hole = next
		}
		move(len(order), hole)
		order[hole] = I(hole)
	}
}
