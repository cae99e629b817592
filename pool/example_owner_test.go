package pool_test

import (
	"fmt"
	"log"
	"slices"

	"coatcheck/pool"
)

// Values that go together with their owner, a connection say, though each may go before
// it. DeleteFunc finds them, and looks at every slot of the pool to do so. An owner that
// keeps a list of their handles needs no help to keep it right: the handle of a
// value that has gone is refused, so the list is put in order only when it is full.
//
// Where a value must leave its owner's list at once, or has owned values itself, the
// list is one of package tree.
func Example_owner() {
	p := pool.Must[string](nil)
	var alice, bob owner[string]
	var coat pool.Handle[string]
	for _, given := range []struct {
		by   *owner[string]
		what string
	}{{&bob, "umbrella"}, {&alice, "hat"}, {&alice, "coat"}} {
		h, err := given.by.insert(p, given.what)
		if err != nil {
			log.Fatal(err)
		}
		coat = h
	}

	p.Remove(coat)              // by any goroutine, which need not know whose it was
	fmt.Println(alice.leave(p)) // how many there still were
	fmt.Println(p.Len())
	// Output:
	// 1
	// 1
}

// owner is used by one goroutine at a time. Its list has room for at most four times as
// many handles as lived together, and an insertion costs a look at one or two of them.
type owner[T any] struct{ values []pool.Handle[T] }

func (o *owner[T]) insert(p *pool.Pool[T], v T) (pool.Handle[T], error) {
	if len(o.values) == cap(o.values) {
		o.values = slices.DeleteFunc(o.values, func(h pool.Handle[T]) bool { return !p.Contains(h) })
		o.values = slices.Grow(o.values, len(o.values)+1) // so that the next look at all is paid for
	}
	h, err := p.Insert(v)
	if err == nil {
		o.values = append(o.values, h)
	}
	return h, err
}

// leave removes o's values and returns how many there were.
func (o *owner[T]) leave(p *pool.Pool[T]) int {
	n := p.RemoveBatch(o.values)
	o.values = o.values[:0]
	return n
}
