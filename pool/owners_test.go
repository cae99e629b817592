package pool_test

import (
	"fmt"
	"slices"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// Values that go together with their owner, a connection say, though each may go before
// it. DeleteFunc finds them, and looks at every slot of the pool to do so. An owner that
// keeps a list of their handles needs nobody's help to keep it right: the handle of a
// value that has gone is refused, so the list is put in order only when it is full.
//
// Where a value must leave its owner's list at once, or has owned values itself, the
// list is one of package tree.
func Example_owner() {
	p := pool.Must[string](nil)
	var alice, bob owner[string]
	coat := alice.insert(p, "coat")
	alice.insert(p, "hat")
	bob.insert(p, "umbrella")

	p.Remove(coat)              // by anybody, who need not know whose it was
	fmt.Println(alice.leave(p)) // how many there still were
	fmt.Println(p.Len())
	// Output:
	// 1
	// 1
}

// owner is used by one goroutine at a time. Its list has room for at most four times as
// many handles as lived together, and an insertion costs a look at one or two of them.
type owner[T any] struct{ values []pool.Handle[T] }

func (o *owner[T]) insert(p *pool.Pool[T], v T) pool.Handle[T] {
	if len(o.values) == cap(o.values) {
		o.values = slices.DeleteFunc(o.values, func(h pool.Handle[T]) bool { return !p.Contains(h) })
		o.values = slices.Grow(o.values, len(o.values)+1) // so that the next look at all is paid for
	}
	h, err := p.Insert(v)
	if err == nil {
		o.values = append(o.values, h)
	}
	return h
}

// leave removes o's values and returns how many there were.
func (o *owner[T]) leave(p *pool.Pool[T]) int {
	n := p.RemoveBatch(o.values)
	o.values = o.values[:0]
	return n
}

// An owner's list stays in proportion to what is live, and finds all of it.
func TestOwnersListStaysShort(t *testing.T) {
	p := tiny[int](t, nil)
	var o owner[int]
	var live []pool.Handle[int]
	for i := range 10_000 {
		live = append(live, o.insert(p, i))
		if len(live) > 100 {
			p.Remove(live[0])
			live = live[1:]
		}
	}
	other := mustInsert(t, p, 1)
	if c := cap(o.values); c > 4*101 {
		t.Errorf("the list of 100 values has room for %d", c)
	}
	if n := o.leave(p); n != 100 || p.Len() != 1 || !p.Contains(other) {
		t.Errorf("removed %d of 100, and %d are left of 1", n, p.Len())
	}
}

// BenchmarkOwner removes the values of one owner of 1,000, a thousand of a million that
// lie in any order, and puts others in their place, which is not counted: by the
// owner's list, by a tree whose roots are the owners, and by DeleteFunc.
func BenchmarkOwner(b *testing.B) {
	const owners, each = 1000, 1000
	type item struct {
		owner int
		links tree.Links[item]
	}
	p := pool.Must[item](nil)
	f := tree.New(p, func(v *item) *tree.Links[item] { return &v.links })
	lists := make([]owner[item], owners)
	roots := make([]pool.Handle[item], owners)
	for i := range roots {
		roots[i], _ = p.Insert(item{owner: -1})
	}
	add := func(k int, inTree bool) {
		h := lists[k].insert(p, item{owner: k})
		if inTree {
			_ = f.Append(roots[k], h)
		}
	}
	for range each {
		for k := range owners { // in turns, so that no owner's values lie together
			add(k, true)
		}
	}
	next := 0
	once := func(remove func(k int) int) func() float64 {
		return func() float64 {
			k := next % owners
			next++
			n := 0
			took := testkit.Timed(func() { n = remove(k) })
			if n != each {
				b.Fatalf("removed %d of %d", n, each)
			}
			lists[k].values = lists[k].values[:0]
			roots[k], _ = p.Insert(item{owner: -1})
			for range each {
				add(k, true)
			}
			return took
		}
	}
	byFunc := once(func(k int) int {
		n := p.DeleteFunc(func(_ pool.Handle[item], v *item) bool { return v.owner == k })
		p.Remove(roots[k])
		return n
	})
	byList := once(func(k int) int {
		n := lists[k].leave(p)
		p.Remove(roots[k])
		return n
	})
	byTree := once(func(k int) int { return f.Remove(roots[k]) - 1 })
	for name, by := range map[string]func() float64{"list": byList, "tree": byTree} {
		b.Run(fmt.Sprintf("impl=%s/base=DeleteFunc/values=%d/owners=%d", name, owners*each, owners), func(b *testing.B) {
			for b.Loop() {
				testkit.Compare(b, 31, 1, by, byFunc)
			}
		})
	}
}
