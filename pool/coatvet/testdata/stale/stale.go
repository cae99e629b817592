// Package stale has pointers into a pool that are used after their protection has ended, and others.
package stale

import (
	"runtime"
	"sync"
	"weak"

	"coatcheck/pool"
	"coatcheck/pool/tree"
)

type thing struct {
	N    int
	A    [4]int
	Next *thing
}

type (
	p = *pool.Pool[thing]
	h = pool.Handle[thing]
)

func afterUnpin(p p, h h) int {
	g := p.Pin()
	v, ok := g.Pointer(h)
	g.Unpin()
	if ok {
		return v.N // want `coatstale: v points into the pool, and is used after g.Unpin in line \d+: use it before, or copy the value`
	}
	return 0
}

func partAfterUnpin(p p, h h) int {
	g := p.Pin()
	v, _ := g.Pointer(h)
	n, s := &v.N, v.A[:]
	g.Unpin()
	return *n + s[0] // want `n points into the pool` `s points into the pool`
}

func returned(p p, h h) *thing {
	g := p.Pin()
	defer g.Unpin()
	v, _ := g.Pointer(h)
	return v // want `a pointer into the pool is returned, but the deferred end of g ends its protection: return a copy or the handle`
}

func returnedCall(p p, h h) (*thing, bool) {
	g := p.Pin()
	defer func() { g.Unpin() }()
	return g.Pointer(h) // want `a pointer into the pool is returned`
}

func returnedByName(p p, h h) (v *thing, ok bool) {
	g := p.Pin()
	v, ok = g.Pointer(h)
	g.Unpin()
	return // want `v points into the pool, and is used after g.Unpin`
}

func returnedFromLoop(p p) *thing {
	for _, v := range p.All() {
		if v.N > 0 {
			return v // want `a pointer into the pool is returned, but the loop of line \d+ over All ends its protection`
		}
	}
	return nil
}

func best(p p) int {
	var best *thing
	for _, v := range p.All() {
		if best == nil || v.N > best.N {
			best = v
		}
	}
	defer p.Remove(0)
	return best.N // want `best points into the pool, and is used after the loop of line \d+ over All`
}

func firstChild(f *tree.Forest[thing], h h) *thing {
	for _, v := range f.Children(h) {
		return v // want `a pointer into the pool is returned, but the loop of line \d+ over Children ends its protection`
	}
	return nil
}

func collected(p p) (n int) {
	var all []*thing
	for _, v := range p.All() {
		all = append(all, v)
	}
	defer p.Remove(0)
	for _, v := range all { // want `all points into the pool`
		n += v.N // want `v points into the pool`
	}
	return n
}

type owner struct{ cur *thing }

func (o *owner) kept(p p, h h) {
	g := p.Pin()
	if v, ok := g.Pointer(h); ok {
		o.cur = v // want `a pointer into the pool stays here when the function returns, and nothing protects it any more: keep the handle instead`
	}
	g.Unpin()
}

func afterRelease(p p, h h) int {
	r, ok := p.Hold(h)
	if !ok {
		return 0
	}
	v := r.Pointer()
	r.Release()
	r.Release() // want `r is used after its Release in line \d+: end it once, after its last use`
	return v.N  // want `v points into the pool, and is used after r.Release`
}

func afterCommit(p p) int {
	r, err := p.Reserve()
	if err != nil {
		return 0
	}
	v := r.Pointer()
	h := r.Commit()
	v.N = 1              // want `v points into the pool, and is used after r.Commit`
	r.Pointer().N = 2    // want `r is used after its Commit`
	if r.Handle() != h { // this one may be called
		return 1
	}
	return 2
}

func afterRemove(p p, h h) int {
	v, ok := p.Pointer(h)
	if !ok || !p.Remove(h) {
		return 0
	}
	return v.N // want `v points into the pool, and is used after Remove in line \d+ has removed its value`
}

func removedByOther(p p, h h) {
	go func() { p.Remove(h) }()
	if v, ok := p.Pointer(h); ok { // want `a goroutine of this function may remove the value while the pointer of Pool.Pointer is used: use View, a Guard or Hold`
		v.N++
	}
}

func inAClosure(p p, h h) func() int {
	g := p.Pin()
	v, _ := g.Pointer(h)
	g.Unpin()
	return func() int { return v.N } // want `v points into the pool, and is used after g.Unpin`
}

func cleanup(p p, h h) {
	v, _ := p.Pointer(h)
	runtime.SetFinalizer(v, nil)              // want `coatstale: runtime.SetFinalizer does not work on a value in a pool, which shares its memory with others: use Options.OnRemove or a Pool\[\*T\]`
	runtime.AddCleanup(v, func(int) {}, 1)    // want `runtime.AddCleanup does not work on a value in a pool`
	runtime.AddCleanup(&v.N, func(int) {}, 1) // want `runtime.AddCleanup does not work on a value in a pool`
	_ = weak.Make(v)                          // want `weak.Make does not work on a value in a pool`
}

type buffer struct{ b []byte }

func reset(h pool.Handle[buffer]) []byte {
	p := pool.Must(&pool.Options[buffer]{Reset: func(b *buffer) { b.b = b.b[:0] }})
	v, _ := p.Get(h) // want `the copy by Get refers to memory that Options.Reset keeps for the next value: use View or a Guard`
	return v.b
}

// What is right.

func copyOut(p p, h h) (thing, bool) {
	g := p.Pin()
	defer g.Unpin()
	v, ok := g.Pointer(h)
	if !ok {
		return thing{}, false
	}
	return *v, true
}

func next(p p, h h) *thing {
	g := p.Pin()
	defer g.Unpin()
	v, ok := g.Pointer(h)
	if !ok {
		return nil
	}
	return v.Next // a pointer that the value has, not one into the pool
}

func ofPointers(p *pool.Pool[*thing], h pool.Handle[*thing]) *thing {
	g := p.Pin()
	defer g.Unpin()
	if v, ok := g.Pointer(h); ok {
		return *v
	}
	var first *thing
	for _, v := range p.All() {
		first = *v
	}
	return first
}

func (o *owner) during(p p, h h) {
	g := p.Pin()
	v, _ := g.Pointer(h)
	o.cur = v
	o.work()
	o.cur = nil
	g.Unpin()
}

func (o *owner) work() {}

func remove(p p, hs []h) (n int) {
	for _, h := range hs {
		v, ok := p.Pointer(h)
		if !ok {
			continue
		}
		n += v.N
		p.Remove(h)
	}
	return n
}

func removeUnderGuard(p p, h h) int {
	g := p.Pin()
	defer g.Unpin()
	v, ok := g.Pointer(h)
	if ok && p.Remove(h) {
		return v.N
	}
	return 0
}

func reuse(p p, h h) int {
	v, _ := p.Pointer(h)
	p.Remove(h)
	h, _ = p.Insert(thing{})
	v, _ = p.Pointer(h)
	return v.N
}

func private() (vs []*thing) {
	p := pool.Must[thing](nil)
	for _, v := range p.All() {
		vs = append(vs, v)
	}
	return vs
}

func waited(p p, h h) {
	var wg sync.WaitGroup
	wg.Go(func() { p.Remove(h) })
	wg.Wait()
	if v, ok := p.Pointer(h); ok {
		v.N++
	}
}

func otherHandle(p p, h h) int {
	v, _ := p.Pointer(h)
	h, _ = p.Insert(thing{})
	p.Remove(h)
	return v.N
}

func foundAgain(p p, h h) func() int {
	g := p.Pin()
	v, _ := g.Pointer(h)
	g.Unpin()
	return func() int {
		v, _ = p.Pointer(h)
		return v.N
	}
}

func localOwner(p p, h h) int {
	g := p.Pin()
	var o owner
	o.cur, _ = g.Pointer(h)
	v, _ := g.Pointer(h)
	o.cur = v
	n := o.cur.N
	g.Unpin()
	return n
}
