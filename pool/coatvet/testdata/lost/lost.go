// Package lost has Guards, Refs and Reservations that are not ended, and others that are.
package lost

import (
	"errors"
	"sync"
	"time"

	"coatcheck/pool"
	"coatcheck/pool/tree"
)

type thing struct{ N int }

type (
	p = *pool.Pool[thing]
	h = pool.Handle[thing]
)

func onAPath(p p, h h) error {
	g := p.Pin() // want `coatlost: the Guard g is not ended on each path: call g.Unpin\(\), or defer it`
	if _, ok := g.Pointer(h); !ok {
		return errors.New("stale")
	}
	g.Unpin()
	return nil
}

func inALoop(p p, hs []h) {
	for _, h := range hs {
		g := p.Pin() // want `coatlost: the Guard g is not ended`
		if v, ok := g.Pointer(h); ok {
			v.N++
		}
	}
}

func byContinue(p p, hs []h) {
	for _, h := range hs {
		r, ok := p.Hold(h) // want `coatlost: the Ref r is not ended on each path: call r.Release\(\)`
		if !ok {
			continue
		}
		if r.Pointer().N == 0 {
			continue
		}
		r.Release()
	}
}

func reservation(p p) (h, error) {
	r, err := p.Reserve() // want `the Reservation r is not ended on each path: call r.Commit\(\) or r.Cancel\(\)`
	if err != nil {
		return 0, err
	}
	if r.Pointer().N = 1; time.Now().IsZero() {
		return 0, errors.New("too early")
	}
	return r.Commit(), nil
}

func dropped(p p, f *tree.Forest[thing], h h) {
	p.Pin()          // want `the Guard of Pin is dropped, so nothing can end it: keep it, and call its Unpin\(\)`
	_, _ = p.Hold(h) // want `the Ref of Hold is dropped`
	f.Pin()          // want `the tree.Reader of Pin is dropped`
}

func overwritten(p p, h, other h) {
	r, _ := p.Hold(h) // want `the Ref r is not ended`
	r, _ = p.Hold(other)
	r.Release()
}

func onlyIfBoth(p p, h h, early bool) {
	r, ok := p.Hold(h) // want `the Ref r is not ended`
	if ok && early {
		r.Release()
	}
}

func beforeItIsKept(p p, h h, early bool, keep func(*pool.Ref[thing])) {
	r, ok := p.Hold(h) // want `the Ref r is not ended`
	if !ok || look(r) == 0 || early {
		return
	}
	keep(r)
}

func look(r *pool.Ref[thing]) int { return r.Pointer().N }

func onlyClosureLooks(p p, h h) {
	g := p.Pin() // want `the Guard g is not ended`
	look := func() bool {
		_, ok := g.Pointer(h)
		return ok
	}
	look()
}

func onlyCopied(p p, h h) []*pool.Ref[thing] {
	var all []*pool.Ref[thing]
	for range 3 {
		r, ok := p.Hold(h) // want `the Ref r is not ended`
		if !ok {
			continue
		}
		kept := append([]*pool.Ref[thing]{}, r)
		_ = len(kept)
	}
	return all
}

// Where others keep it.

type session struct {
	forgotten *pool.Ref[thing]
	guard     pool.Guard[thing]
	refs      []*pool.Ref[thing]
	byHandle  map[h]*pool.Ref[thing]
	draft     *pool.Reservation[thing]
}

func (s *session) open(p p, h h) {
	s.forgotten, _ = p.Hold(h) // want `nothing ends this Ref, wherever it is kept: call its Release\(\)`
	s.guard = p.Pin()
	for range 3 {
		r, _ := p.Hold(h)
		s.refs = append(s.refs, r)
	}
	s.byHandle[h], _ = p.Hold(h)
}

func (s *session) close() {
	s.guard.Unpin()
	for _, r := range s.refs {
		r.Release()
	}
	for _, r := range s.byHandle {
		r.Release()
	}
}

func (s *session) reserve(p p) (err error) {
	s.draft, err = p.Reserve() // want `nothing commits this Reservation, so its value never becomes live: call its Commit\(\)`
	return err
}

func (s *session) abort() { s.draft.Cancel() }

func guardsInASlice(p p, n int) {
	guards := make([]pool.Guard[thing], n)
	for i := range guards {
		guards[i] = p.Pin() // want `nothing ends this Guard`
	}
}

// What is right.

func burst(p p, hs []h) (n int) {
	g := p.Pin()
	for i, h := range hs {
		if i%64 == 63 {
			g.Unpin()
			g = p.Pin()
		}
		if v, ok := g.Pointer(h); ok {
			n += v.N
		}
	}
	g.Unpin()
	return n
}

func maybe(p p, h h, pinned bool) (n int) {
	var g pool.Guard[thing]
	if pinned {
		g = p.Pin()
		v, _ := g.Pointer(h)
		n = v.N
	}
	if pinned {
		g.Unpin()
	}
	return n
}

func hold(p p, h h) error {
	r, ok := p.Hold(h)
	if !ok {
		return errors.New("stale")
	}
	defer r.Release()
	if r.Pointer().N == 0 {
		return errors.New("empty")
	}
	return nil
}

func holdNil(p p, h h) {
	r, _ := p.Hold(h)
	if r == nil {
		return
	}
	r.Release()
}

func handOn(p p, h h) *pool.Ref[thing] {
	r, ok := p.Hold(h)
	if !ok {
		return nil
	}
	return r
}

func toAChannel(p p, h h, ch chan *pool.Ref[thing]) {
	if r, ok := p.Hold(h); ok {
		ch <- r
	}
	(<-ch).Release()
}

func toOthers(p p, h h, use func(*pool.Ref[thing]), keep func(any)) {
	if r, ok := p.Hold(h); ok {
		use(r)
	}
	if r, ok := p.Hold(h); ok {
		keep(r)
	}
}

func reserve(p p, bad bool) (h, error) {
	r, err := p.Reserve()
	if err != nil {
		return 0, err
	}
	if bad {
		r.Cancel()
		return 0, errors.New("bad")
	}
	return r.Commit(), nil
}

func byPointer(p p, guards []pool.Guard[thing]) {
	for i := range guards {
		g := &guards[i]
		*g = p.Pin()
	}
	for i := range guards {
		guards[i].Unpin()
	}
}

type guard = pool.Guard[thing]

type embedded struct{ guard }

func embeds(p p) {
	var e embedded
	e.guard = p.Pin()
	e.Unpin()
}

// Lease is for other packages, which end it.
type Lease struct{ Ref *pool.Ref[thing] }

func lease(p p, h h) (l Lease) {
	l.Ref, _ = p.Hold(h)
	return l
}

func goroutines(p p, hs []h) {
	g := p.Pin()
	var wg sync.WaitGroup
	for _, h := range hs {
		wg.Go(func() { g.Pointer(h) })
	}
	wg.Wait()
	g.Unpin()
}

func built(p p, init func(*thing)) error {
	r, err := p.Reserve()
	if err != nil {
		return err
	}
	init(r.Pointer()) // want `coatlost: the Reservation r stays open if init panics: cancel it in a deferred call, or call InsertFunc`
	r.Commit()
	return nil
}
