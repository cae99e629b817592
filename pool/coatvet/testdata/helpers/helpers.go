// Package helpers has functions that return resources, or have them as parameters, for package helped.
package helpers

import "coatcheck/pool"

type H = pool.Handle[int]

func Hold(p *pool.Pool[int], h H) *pool.Ref[int] { // want Hold:"opens"
	r, ok := p.Hold(h)
	if !ok {
		return nil
	}
	return r
}

func Reserve(p *pool.Pool[int]) (*pool.Reservation[int], error) { // want Reserve:"opens"
	r, err := p.Reserve()
	if err != nil {
		return nil, err
	}
	return r, nil
}

func Done(r *pool.Ref[int], log bool) { // want Done:"ends 0"
	if log {
		println(r.Handle().String())
	}
	r.Release()
}

func Look(n int, r *pool.Ref[int]) int { return n + *r.Pointer() } // want Look:"borrows 1"

func Maybe(r *pool.Ref[int], end bool) {
	if end {
		r.Release()
	}
}

func Must[T any](v T, err error) T { // want Must:"passes"
	if err != nil {
		panic(err)
	}
	return v
}

var kept *pool.Ref[int]

func Keep(r *pool.Ref[int]) { kept = r }

func Drop() { kept.Release() }

// Kept returns what somebody else ends.
func Kept() *pool.Ref[int] { return kept }

func twice(r *pool.Ref[int]) { // want twice:"ends 0"
	defer Done(r, false)
}
