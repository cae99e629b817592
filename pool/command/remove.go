package command

import (
	"slices"

	"coatcheck/pool"
)

// remove does the removals of all buffers, and calls the functions among them. It returns how many
// removals took effect. It calls tell, unless that is nil, with each value that it removed. All of this may
// run user code. If that panics, what was not done is recorded again.
func (f frame[T]) remove(tell func(pool.Handle[T], T)) (n int) {
	k := 0
	defer func() {
		if k < len(f) {
			f.putBack(k)
		}
	}()
	for ; k < len(f); k++ {
		n += f[k].remove(tell)
	}
	return n
}

// remove does the removals of one buffer, and calls the functions among them.
func (t *taken[T]) remove(tell func(pool.Handle[T], T)) (n int) {
	for t.called < len(t.functions) {
		f := t.functions[t.called]
		n += t.removeUpTo(f.removals, tell)
		t.called++
		f.call()
	}
	return n + t.removeUpTo(len(t.removals), tell)
}

// removeUpTo does those removals before number end that were not done yet.
func (t *taken[T]) removeUpTo(end int, tell func(pool.Handle[T], T)) (n int) {
	switch {
	case t.removed == end:
	case tell == nil:
		t.batch = end
		n = t.buffer.pool.RemoveBatch(t.removals[t.removed:end])
		t.removed = end
	default:
		for t.removed < end {
			h := t.removals[t.removed]
			t.removed++
			if moveOut(t.buffer.pool, h, tell) {
				n++
			}
		}
	}
	return n
}

// moveOut removes the value of h and calls tell with it. It reports whether it did.
//
// Take calls OnRemove only if it removes the value. So if OnRemove panics, this call has removed the value,
// and must tell of it. Then it has the value from the Get before.
func moveOut[T any](p *pool.Pool[T], h pool.Handle[T], tell func(pool.Handle[T], T)) (ok bool) {
	v, ok := p.Get(h)
	if !ok {
		return false
	}
	defer func() {
		if ok {
			tell(h, v)
		}
	}()
	v, ok = p.Take(h)
	return ok
}

// putBack records again what a panic prevented, for the k-th buffer and those after it. If it interrupted a
// RemoveBatch, the pool tells how far that came: a value that is live was not removed.
func (f frame[T]) putBack(k int) {
	t := &f[k]
	end := max(t.batch, t.removed)
	unremoved := slices.DeleteFunc(t.removals[t.removed:end], func(h pool.Handle[T]) bool { return !t.buffer.pool.Contains(h) })
	gone := end - len(unremoved)
	t.removals = append(unremoved, t.removals[end:]...)
	clear(t.functions[:t.called]) // or the list would keep alive what they refer to
	t.functions = t.functions[t.called:]
	for i := range t.functions {
		t.functions[i].removals -= gone
	}
	for _, t := range f[k:] {
		b := t.buffer
		b.mu.Lock()
		if t.live != len(t.insertions) {
			b.insertions = append(t.insertions[t.live:], b.insertions...)
			clear(t.insertions[:t.live]) // or the list would keep them alive
		}
		for i := range b.functions {
			b.functions[i].removals += len(t.removals)
		}
		b.removals = append(t.removals, b.removals...)
		b.functions = append(t.functions, b.functions...)
		b.mu.Unlock()
	}
}
