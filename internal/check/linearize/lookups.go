package linearize

import (
	"runtime"

	"coatcheck/pool"
)

func (t *thread) get(h Handle) {
	p, prefix := t.verbs()
	call := t.clock.read()
	v, ok := p.Get(h)
	t.add(call, prefix+"Get", Read, h, v.read(), ok)
}

func (t *thread) contains(h Handle) {
	call := t.clock.read()
	ok := t.subject.Contains(h)
	t.add(call, "Contains", Look, h, 0, ok)
}

func (t *thread) view(h Handle) {
	var seen uint64
	call := t.clock.read()
	ret := call
	ok := t.subject.View(h, func(v *Value) {
		ret = t.clock.read() // it was found live before
		runtime.Gosched()
		seen = v.read()
	})
	if !ok {
		ret = t.clock.read()
	}
	t.put(call, ret, "View", Read, h, seen, ok)
}

// hold is a guard that a thread keeps over several operations, with what it saw.
type hold struct {
	pinned bool
	guard  pool.Guard[Value]
	seen   []sight
}

type sight struct {
	h  Handle
	v  *Value
	id uint64
}

// guard pins, looks handles up under the pin, and in the end unpins. What a pin
// has shown must stay what it was, removed or not.
func (t *thread) guard() {
	g := &t.hold
	if !g.pinned {
		g.pinned = true
		pin(t.subject, &g.guard)
	}
	if t.chance(2) {
		h := t.pick()
		call := t.clock.read()
		v, ok := g.guard.Get(h)
		t.sighted(call, t.clock.read(), "Guard.Get", h, v, ok)
		return
	}
	hs := t.picks(4)
	call := t.clock.read()
	vs := g.guard.GetBatch(hs, nil)
	ret := t.clock.read()
	for i, h := range hs {
		t.sighted(call, ret, "Guard.GetBatch", h, vs[i], vs[i] != nil)
	}
}

// pin pins s into g, which must not be copied.
func pin(s Subject, g *pool.Guard[Value]) { *g = s.Pin() }

func (t *thread) sighted(call, ret int64, verb string, h Handle, v *Value, ok bool) {
	var id uint64
	if ok {
		id = v.read()
		t.hold.seen = append(t.hold.seen, sight{h, v, id})
	}
	t.put(call, ret, verb, Read, h, id, ok)
}

// letGo unpins the thread's guard, if it has one.
func (t *thread) letGo() {
	g := &t.hold
	if !g.pinned {
		return
	}
	for _, s := range g.seen {
		if id := s.v.read(); id != s.id {
			t.problem("under one pin, the value of %v was %s and then %s", s.h, number(s.id), number(id))
		}
	}
	g.guard.Unpin()
	g.pinned, g.seen = false, g.seen[:0]
}

// all is a Read of each value that the loop yields, and says that the others were
// not live at some moment of the loop.
func (t *thread) all() {
	met := make(map[Handle]bool)
	begin := t.clock.read()
	call := begin
	for h, v := range t.subject.All() {
		t.add(call, "All", Read, h, v.read(), true)
		if met[h] {
			t.problem("All yielded %v twice", h)
		}
		met[h] = true
		runtime.Gosched()
		call = t.clock.read()
	}
	t.span(begin, "All", Look, met)
}
