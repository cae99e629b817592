// Package helped uses the helpers of package helpers and its own.
package helped

import (
	"coatcheck/pool"
	"coatcheck/pool/coatvet/testdata/helpers"
)

type h = pool.Handle[int]

func opened(p *pool.Pool[int], h h) {
	r := helpers.Hold(p, h) // want `coatlost: the Ref r is not ended`
	println(*r.Pointer())
	helpers.Hold(p, h)                    // want `coatlost: the Ref of Hold is dropped`
	s := helpers.Must(helpers.Reserve(p)) // want `coatlost: the Reservation s is not ended`
	println(s.Handle().String())
	helpers.Hold(p, h).Release()
	helpers.Must(p.Reserve()).Commit()
}

func borrowed(p *pool.Pool[int], h h) int {
	r, _ := p.Hold(h) // want `coatlost: the Ref r is not ended`
	return helpers.Look(1, r) + own(r)
}

func own(r *pool.Ref[int]) int { return *r.Pointer() }

func ended(p *pool.Pool[int], h h) int {
	r, _ := p.Hold(h)
	v := r.Pointer()
	helpers.Done(r, true)
	r.Release() // want `coatstale: r is used after its Done in line \d+`
	return *v   // want `coatstale: v points into the pool, and is used after r.Release in line \d+`
}

func endedLater(p *pool.Pool[int], h h) int {
	r, _ := p.Hold(h)
	defer helpers.Done(r, true)
	return *r.Pointer()
}

func maybe(p *pool.Pool[int], h h) {
	r, _ := p.Hold(h)
	helpers.Maybe(r, true)
	r, _ = p.Hold(h)
	helpers.Keep(r)
	println(*helpers.Kept().Pointer())
}

func byLiteral(p *pool.Pool[int], h h) {
	hold := func() *pool.Ref[int] {
		r, _ := p.Hold(h)
		return r
	}
	r := hold() // want `coatlost: the Ref r is not ended`
	println(*r.Pointer())
	release := func(r *pool.Ref[int]) { r.Release() }
	s := hold()
	release(s)
}

// A pooled has the methods of a pool.
type pooled interface {
	Pin() pool.Guard[int]
	Hold(h) (*pool.Ref[int], bool)
}

func byInterface(p pooled, h h) {
	g := p.Pin() // want `coatlost: the Guard g is not ended`
	g.Pointer(h)
	if r, ok := p.Hold(h); ok {
		r.Release()
	}
}
