package lost

import (
	"errors"

	"coatcheck/pool"
)

// Code that is right, and that is easily taken for wrong.

func sentinels(p p) (h, error) {
	r, err := p.Reserve()
	if errors.Is(err, pool.ErrStalled) {
		return 0, errors.New("stalled")
	}
	if err == pool.ErrFull {
		return 0, errors.New("full")
	}
	switch {
	case err != nil:
		return 0, err
	}
	return r.Commit(), nil
}

func compared(p p, h h) {
	r, ok := p.Hold(h)
	if ok == false {
		return
	}
	r.Release()
	r, ok = p.Hold(h)
	if true == ok {
		r.Release()
	}
	s, err := p.Reserve()
	if nil == err {
		s.Commit()
	}
}

func judged(p p, bad func(error) bool) (h, error) {
	r, err := p.Reserve()
	if bad(err) {
		return 0, err
	}
	return r.Commit(), nil
}

func copiedOk(p p, h h) {
	r, ok := p.Hold(h)
	found := ok
	if !found {
		return
	}
	r.Release()
}

func flagged(p p, h h, early bool) {
	r, ok := p.Hold(h)
	if !ok {
		return
	}
	done := false
	if early {
		r.Release()
		done = true
	}
	if !done {
		r.Release()
	}
}

func setToNil(p p, h h, early bool) {
	r, ok := p.Hold(h)
	if !ok {
		return
	}
	if early {
		r.Release()
		r = nil
	}
	if r != nil {
		r.Release()
	}
}

func ifHeld(p p, h h) int {
	r, ok := p.Hold(h)
	if ok {
		defer r.Release()
		return r.Pointer().N
	}
	return 0
}

func untilStale(p p, h h) {
	for {
		r, ok := p.Hold(h)
		if !ok {
			break
		}
		r.Release()
	}
}

func last(p p, hs []h) {
	var last *pool.Ref[thing]
	for _, h := range hs {
		r, ok := p.Hold(h)
		if !ok {
			continue
		}
		if last != nil {
			last.Release()
		}
		last = r
	}
	if last != nil {
		last.Release()
	}
}

func later(p p) func() {
	g := p.Pin()
	return g.Unpin
}

func laterInALiteral(p p) func() {
	g := p.Pin()
	return func() { g.Unpin() }
}

func inAGoroutine(p p, h h, ch chan int) {
	r, ok := p.Hold(h)
	if !ok {
		return
	}
	go func() {
		defer r.Release()
		ch <- r.Pointer().N
	}()
}

func byGo(p p, h h) {
	if r, ok := p.Hold(h); ok {
		go release(r)
	}
}

func release(r *pool.Ref[thing]) { r.Release() }

func unlessCommitted(p p, fill func(*thing) error) (h, error) {
	r, err := p.Reserve()
	if err != nil {
		return 0, err
	}
	committed := false
	defer func() {
		if !committed {
			r.Cancel()
		}
	}()
	if err := fill(r.Pointer()); err != nil {
		return 0, err
	}
	committed = true
	return r.Commit(), nil
}

func asAny(p p, h h, keep func(...any)) {
	r, ok := p.Hold(h)
	if !ok {
		return
	}
	all := []any{r}
	keep(all...)
}

type entry struct {
	ref *pool.Ref[thing]
	any any
}

func entries(p p, hs []h) map[h]entry {
	all := map[h]entry{}
	for _, h := range hs {
		if r, ok := p.Hold(h); ok {
			all[h] = entry{r, nil}
		}
		if r, ok := p.Hold(h); ok {
			all[h] = entry{any: r}
		}
	}
	return all
}

func endEntries(all map[h]entry) {
	for _, e := range all {
		e.ref.Release()
	}
}

func labelled(p p, hs []h) {
outer:
	for {
		g := p.Pin()
		for _, h := range hs {
			if _, ok := g.Pointer(h); !ok {
				g.Unpin()
				continue outer
			}
		}
		g.Unpin()
		return
	}
}

func yields(p p, hs []h) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		g := p.Pin()
		defer g.Unpin()
		for _, h := range hs {
			if v, ok := g.Pointer(h); ok && !yield(v.N) {
				return
			}
		}
	}
}

func pinnedAgain(p p) {
	g := p.Pin()
	defer g.Unpin()
	g.Unpin()
	g = p.Pin()
}

func deferredBefore(p p) {
	var g pool.Guard[thing]
	defer func() { g.Unpin() }()
	g = p.Pin()
}

func deferredInABranch(p p, h h, early bool) {
	r, ok := p.Hold(h)
	if !ok {
		return
	}
	if early {
		defer r.Release()
	} else {
		r.Release()
	}
	s, ok := p.Hold(h)
	if !ok {
		return
	}
	if early {
		s.Release()
	} else {
		defer s.Release()
	}
}

func orOk(p p, h h, early bool) {
	r, ok := p.Hold(h)
	if early || ok {
		if ok {
			r.Release()
		}
		return
	}
	println("stale")
}

func another(p p, h h, kept *pool.Ref[thing]) {
	r, ok := p.Hold(h)
	if !ok {
		return
	}
	r.Release()
	r = kept
	r.Release()
}

func named(p p, h h) (r *pool.Ref[thing]) {
	hold := func() (r *pool.Ref[thing]) {
		r, _ = p.Hold(h)
		return
	}
	if r = hold(); r == nil {
		r, _ = p.Hold(h)
	}
	return
}

func throughASlice(p p, n int) {
	guards := make([]pool.Guard[thing], n)
	first := guards[:1]
	first[0] = p.Pin()
	guards[0].Unpin()
}

func first[T any](xs []T) T { return xs[0] }

func throughAHelper(p p, h h) {
	r, ok := p.Hold(h)
	if !ok {
		return
	}
	all := []*pool.Ref[thing]{r}
	first(all).Release()
}

func fatal(p p, h h) {
	r, ok := p.Hold(h)
	if !ok {
		panic("stale")
	}
	if r.Pointer().N < 0 {
		panic("negative")
	}
	r.Release()
}

func builtSafely(p p, init func(*thing)) error {
	r, err := p.Reserve()
	if err != nil {
		return err
	}
	built := false
	defer func() {
		if !built {
			r.Cancel()
		}
	}()
	init(r.Pointer())
	built = true
	r.Commit()
	return nil
}

func builtHere(p p, n int) error {
	r, err := p.Reserve()
	if err != nil {
		return err
	}
	fill := func(v *thing) { v.N = n }
	fill(r.Pointer())
	r.Commit()
	return nil
}
