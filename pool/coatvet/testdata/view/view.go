// Package view has functions that get a pointer for as long as they run.
package view

import (
	"context"

	"coatcheck/pool"
)

type thing struct {
	N    int
	Self pool.Handle[thing]
}

type (
	p = *pool.Pool[thing]
	h = pool.Handle[thing]
)

var last *int

func leaves(p p, h h, ch chan<- *thing) {
	var v *thing
	p.View(h, func(t *thing) { v = t })       // want `coatview: t is valid only until the function of View returns, and this keeps it: keep the handle, or use Hold`
	p.View(h, func(t *thing) { last = &t.N }) // want `t is valid only until`
	p.View(h, func(t *thing) {
		go func() { t.N++ }() // want `t is valid only until`
	})
	_ = p.Each(context.Background(), 1, func(_ pool.Handle[thing], t *thing) error {
		ch <- t // want `t is valid only until the function of Each returns`
		return nil
	})
	var all []*thing
	p.DeleteFunc(func(_ pool.Handle[thing], t *thing) bool {
		all = append(all, t) // want `t is valid only until the function of DeleteFunc returns`
		return true
	})
	_, _ = v, all
}

func ownHandle(p p) {
	h, err := p.Insert(thing{})
	if err != nil {
		return
	}
	v, _ := p.Pointer(h)
	v.Self = h // want `coatview: others may find the value before it has its own handle: store the handle in the function of InsertFunc`
}

// What is right.

func stays(p p, h h) (n int) {
	p.View(h, func(v *thing) {
		n = v.N
		w := v
		w.N++
	})
	_, _ = p.InsertFunc(func(h pool.Handle[thing], v *thing) { v.Self = h })
	return n
}
