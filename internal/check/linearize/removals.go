package linearize

import "runtime"

func (t *thread) remove(h Handle) {
	p, prefix := t.verbs()
	call := t.clock.read()
	ok := p.Remove(h)
	t.add(call, prefix+"Remove", Remove, h, 0, ok)
}

func (t *thread) take(h Handle) {
	p, prefix := t.verbs()
	call := t.clock.read()
	v, ok := p.Take(h)
	t.add(call, prefix+"Take", Take, h, v.read(), ok)
}

// removeBatch tells which of its handles were removed only if all or none were.
// Otherwise each of them was removed if it was live.
func (t *thread) removeBatch() {
	hs := t.picks(1 + t.IntN(4))
	call := t.clock.read()
	n := t.subject.RemoveBatch(hs)
	ret := t.clock.read()
	e := Remove
	if 0 < n && n < len(hs) {
		e = Sweep
		t.removed += n
	} else if n < 0 || n > len(hs) {
		t.problem("RemoveBatch of %d handles removed %d", len(hs), n)
		return
	}
	for _, h := range hs {
		t.put(call, ret, "RemoveBatch", e, h, 0, n > 0)
	}
}

// loop goes over all slots in one of the ways that there are.
func (t *thread) loop() {
	if t.noLoops {
		return
	}
	switch t.IntN(4) {
	case 0:
		t.all()
	case 1:
		t.drain()
	case 2:
		t.deleteFunc()
	default:
		t.clear()
	}
}

// drain is a Take of each value that the loop yields. One that runs to its end
// says that the others were not live at some moment.
func (t *thread) drain() {
	left := 1 + t.IntN(16)
	met := make(map[Handle]bool)
	begin := t.clock.read()
	call := begin
	for h, v := range t.subject.Drain() {
		t.add(call, "Drain", Take, h, v.read(), true)
		met[h] = true
		if left--; left == 0 {
			return
		}
		runtime.Gosched()
		call = t.clock.read()
	}
	t.span(begin, "Drain", Look, met)
}

// deleteFunc is a Read of each value that is offered, and a Sweep of those that
// are condemned: another may be faster. The others were not live at some moment.
func (t *thread) deleteFunc() {
	met := make(map[Handle]bool)
	begin := t.clock.read()
	call := begin
	first := len(t.records) // of this call
	n := t.subject.DeleteFunc(func(h Handle, v *Value) bool {
		t.add(call, "DeleteFunc", Read, h, v.read(), true)
		if met[h] {
			t.problem("DeleteFunc offered %v twice", h)
		}
		met[h] = true
		runtime.Gosched()
		call = t.clock.read()
		if t.chance(2) {
			t.put(call, 0, "DeleteFunc", Sweep, h, 0, true)
			t.records[len(t.records)-1].Wide = true
			return true
		}
		return false
	})
	t.removed += n
	t.span(begin, "DeleteFunc", Look, met)
	ret := t.clock.read()
	condemned := 0
	for i := range t.records[first:] {
		if r := &t.records[first+i]; r.Effect == Sweep {
			r.Return = ret
			condemned++
		}
	}
	if n < 0 || n > condemned {
		t.problem("DeleteFunc removed %d where %d were condemned", n, condemned)
	}
}

// clear is a Sweep of every handle.
func (t *thread) clear() {
	call := t.clock.read()
	t.removed += t.subject.Clear()
	t.span(call, "Clear", Sweep, nil)
}

// changeWorker flushes the thread's Worker, or closes it and takes another.
func (t *thread) changeWorker() {
	if t.worker == nil {
		return
	}
	if t.chance(2) {
		t.worker.Flush()
		return
	}
	t.worker.Close()
	t.worker = t.subject.Worker()
}
