package linearize

// insert returns the handle, 0 if there was no slot.
func (t *thread) insert() Handle {
	p, prefix := t.verbs()
	v := t.value()
	call := t.clock.read()
	h, err := p.Insert(v)
	if err != nil {
		t.noSlot()
		return 0
	}
	t.add(call, prefix+"Insert", Insert, h, v.id, true)
	t.know(h)
	return h
}

// noSlot is what follows an insertion that found none. Now and then the thread
// removes the value that it finds first, as others do who found no slot.
func (t *thread) noSlot() {
	t.full++
	if t.chance(2) {
		return
	}
	call := t.clock.read()
	for h, v := range t.subject.All() {
		t.add(call, "All", Read, h, v.read(), true)
		duels[t.IntN(3)](t, h)
		return
	}
}

// duels are what a thread does at a handle that it has just inserted, at the
// moment at which another comes. The first three end its life.
var duels = []func(*thread, Handle){
	(*thread).remove, (*thread).remove, (*thread).take, (*thread).get, (*thread).contains, (*thread).view,
}

func (t *thread) duel() {
	if h := t.insert(); h != 0 {
		t.board.await(h)
		duels[t.IntN(len(duels))](t, h)
	}
}

// giveUp is what a constructor panics with.
type giveUp struct{}

// insertFunc is two operations: the handle is reserved before the constructor,
// and goes live or is given up after it. The constructor shows its handle, may
// use the pool, and fails now and then.
func (t *thread) insertFunc() {
	p, prefix := t.verbs()
	prefix += "InsertFunc"
	v := t.value()
	fails := t.chance(4)
	var handle Handle
	var built int64
	call := t.clock.read()
	init := func(h Handle, at *Value) {
		t.add(call, prefix, Reserve, h, 0, true)
		handle = h
		t.know(h)
		if t.chance(3) {
			t.get(t.pick())
			t.remove(t.pick())
		}
		*at = v
		if t.chance(2) {
			t.board.await(h)
		}
		built = t.clock.read()
		if fails {
			panic(giveUp{})
		}
	}
	h, err := t.build(func() (Handle, error) { return p.InsertFunc(init) })
	switch {
	case err != nil:
		t.noSlot()
	case handle == 0:
		t.problem("%s returned %v without calling the constructor", prefix, h)
	case fails:
		t.add(built, prefix, Cancel, handle, 0, true)
	default:
		t.add(built, prefix, Commit, handle, v.id, true)
		if h != handle {
			t.problem("%s returned %v, but the constructor was told %v", prefix, h, handle)
		}
	}
}

// build calls f, which a constructor may leave by a panic.
func (t *thread) build(f func() (Handle, error)) (Handle, error) {
	defer func() {
		if v := recover(); v != nil {
			if _, ok := v.(giveUp); !ok {
				panic(v)
			}
		}
	}()
	return f()
}

// reservation makes one, or settles the one that is open.
func (t *thread) reservation() {
	if t.open != nil {
		t.settle()
		return
	}
	call := t.clock.read()
	r, err := t.subject.Reserve()
	if err != nil {
		t.noSlot()
		return
	}
	t.add(call, "Reserve", Reserve, r.Handle(), 0, true)
	t.open = r
	t.know(r.Handle())
}

func (t *thread) settle() {
	r := t.open
	if r == nil {
		return
	}
	t.open = nil
	v := t.value()
	*r.Value() = v
	if t.chance(2) {
		t.board.await(r.Handle())
	}
	call := t.clock.read()
	if t.chance(4) {
		r.Cancel()
		t.add(call, "Cancel", Cancel, r.Handle(), 0, true)
		return
	}
	h := r.Commit()
	t.add(call, "Commit", Commit, h, v.id, true)
	if h != r.Handle() {
		t.problem("Commit returned %v for a reservation of %v", h, r.Handle())
	}
}

func (t *thread) insertBatch() {
	vs := make([]Value, 1+t.IntN(4))
	for i := range vs {
		vs[i] = t.value()
	}
	call := t.clock.read()
	hs, err := t.subject.InsertBatch(vs, nil)
	ret := t.clock.read()
	if err != nil {
		t.noSlot()
	}
	if len(hs) > len(vs) || err == nil && len(hs) < len(vs) {
		t.problem("InsertBatch of %d values returned %d handles and %v", len(vs), len(hs), err)
		return
	}
	for i, h := range hs {
		t.put(call, ret, "InsertBatch", Insert, h, vs[i].id, true)
		t.know(h)
	}
}
