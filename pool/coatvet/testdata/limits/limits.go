// Package limits has mistakes that coatvet does not tell. The package comment of coatvet names them. One
// that it tells some day moves to another package.
package limits

import (
	"time"

	"coatcheck/pool"
)

type thing struct {
	N    int
	Next pool.Handle[thing]
}

type (
	p = *pool.Pool[thing]
	h = pool.Handle[thing]
)

// Of the Guards in one holder, one is ended.
func oneOfMany(p p) {
	guards := []pool.Guard[thing]{p.Pin(), p.Pin()}
	guards[0].Unpin()
}

// A panic of a function that is called leaves the Guard pinned.
func panics(p p, h h, use func(*thing)) {
	g := p.Pin()
	if v, ok := g.Pointer(h); ok {
		use(v)
	}
	g.Unpin()
}

// The pointer goes through a function.
func throughAFunction(p p, h h) int {
	g := p.Pin()
	v, _ := g.Pointer(h)
	v = same(v)
	g.Unpin()
	return v.N
}

func same(v *thing) *thing { return v }

// The function that is called sleeps.
func blocksInACall(p p) {
	g := p.Pin()
	nap()
	g.Unpin()
}

func nap() { time.Sleep(time.Second) }

// Another function removes the value.
func removedInACall(p p, h h) int {
	v, _ := p.Pointer(h)
	remove(p, h)
	return v.N
}

func remove(p p, h h) { p.Remove(h) }

// A handle of one pool is looked up in another.
func otherPool(p, q p) bool {
	h, _ := p.Insert(thing{})
	return q.Contains(h)
}

// Two goroutines write to a value without a lock: that is for the race detector.
func races(p p, h h) {
	for range 2 {
		go func() { p.View(h, func(v *thing) { v.N++ }) }()
	}
}

// The Guard is in a field that other packages reach.
type Open struct{ Guard pool.Guard[thing] }

func (o *Open) begin(p p) { o.Guard = p.Pin() }
