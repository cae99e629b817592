package command

import (
	"slices"

	"coatcheck/pool"
)

// remove does the removals, and calls the functions among them. It returns how many removals
// took effect. If tell is not nil, it is called with each value that was removed. All of this
// may call user code, so remove first prepares for a panic.
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

// remove is remove of one buffer.
func (t *taken[T]) remove(tell func(pool.Handle[T], T)) (n int) {
	for t.called < len(t.functions) {
		f := t.functions[t.called]
		n += t.removeUpTo(f.behind, tell)
		t.called++
		f.call()
	}
	return n + t.removeUpTo(len(t.removals), tell)
}

// removeUpTo does the removals up to end that were not done yet.
func (t *taken[T]) removeUpTo(end int, tell func(pool.Handle[T], T)) (n int) {
	switch {
	case t.done == end:
	case tell == nil:
		t.batch = end
		n = t.from.pool.RemoveBatch(t.removals[t.done:end])
		t.done = end
	default:
		for t.done < end {
			h := t.removals[t.done]
			t.done++
			if moveOut(t.from.pool, h, tell) {
				n++
			}
		}
	}
	return n
}

// moveOut removes the value of h and calls tell with it, and reports whether it did.
//
// A Take that removes nothing calls no OnRemove. So if OnRemove panics out of it, the value was
// removed by this call, which must tell of it all the same. A copy from before serves then.
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

// putBack records again what a panic prevented, in the k-th buffer's lists and those after it. Of a
// RemoveBatch that was interrupted, the pool tells how far it came: a live value was not
// removed. One that was not live, and is now, seems not to have been removed either.
func (f frame[T]) putBack(k int) {
	t := &f[k]
	end := max(t.batch, t.done)
	rest := slices.DeleteFunc(t.removals[t.done:end], func(h pool.Handle[T]) bool { return !t.from.pool.Contains(h) })
	gone := end - len(rest)
	t.removals = append(rest, t.removals[end:]...)
	clear(t.functions[:t.called]) // what they refer to is let go: the list keeps its beginning
	t.functions = t.functions[t.called:]
	for i := range t.functions {
		t.functions[i].behind -= gone
	}
	for _, t := range f[k:] {
		b := t.from
		b.mu.Lock()
		if t.live < len(t.insertions) {
			b.insertions = append(t.insertions[t.live:], b.insertions...)
			clear(t.insertions[:t.live]) // settled, and before the beginning of the list now
		}
		for i := range b.functions {
			b.functions[i].behind += len(t.removals)
		}
		b.removals = append(t.removals, b.removals...)
		b.functions = append(t.functions, b.functions...)
		b.mu.Unlock()
	}
}
