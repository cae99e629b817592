package apps

import "coatcheck/pool"

// poolTask is a task in place. Slots keep the lists of what waits, so that they are not allocated
// again.
type poolTask struct {
	task
	next []pool.Handle[poolTask]
}

type poolGraph struct {
	all   *pool.Pool[poolTask]
	ready ready[pool.Handle[poolTask]]
}

func newPoolGraph() tasks[pool.Handle[poolTask]] {
	reset := func(t *poolTask) { t.next = t.next[:0] }
	return &poolGraph{all: pool.Must(&pool.Options[poolTask]{Reset: reset})}
}

func (g *poolGraph) live() int { return g.all.Len() }

func (g *poolGraph) add(t task, after []pool.Handle[poolTask]) pool.Handle[poolTask] {
	return inserted(g.all.InsertFunc(func(h pool.Handle[poolTask], v *poolTask) {
		for _, name := range after {
			if before, ok := g.all.Pointer(name); ok { // else it is done
				before.next = append(before.next, h)
				t.waits++
			}
		}
		if v.task = t; t.waits == 0 {
			g.ready.push(t.urgency, h)
		}
	}))
}

func (g *poolGraph) cancel(h pool.Handle[poolTask]) (ids uint64) {
	t, ok := g.all.Pointer(h)
	if !ok || t.running {
		return 0
	}
	ids = t.id
	for _, next := range t.next {
		ids += g.cancel(next)
	}
	g.all.Remove(h)
	return ids
}

func (g *poolGraph) take() (pool.Handle[poolTask], *task, bool) {
	for {
		h, ok := g.ready.pop()
		if !ok {
			return 0, nil, false
		}
		if t, live := g.all.Pointer(h); live { // else it was cancelled
			t.running = true
			return h, &t.task, true
		}
	}
}

func (g *poolGraph) done(h pool.Handle[poolTask]) {
	t, _ := g.all.Pointer(h)
	for _, next := range t.next {
		if n, ok := g.all.Pointer(next); ok { // else it was cancelled
			if n.waits--; n.waits == 0 {
				g.ready.push(n.urgency, next)
			}
		}
	}
	g.all.Remove(h)
}

// heldTask is a task that a pool points to.
type heldTask struct {
	task
	next []pool.Handle[*heldTask]
}

type poolPointersGraph struct {
	all   *pool.Pool[*heldTask]
	ready ready[pool.Handle[*heldTask]]
}

func newPoolPointersGraph() tasks[pool.Handle[*heldTask]] {
	return &poolPointersGraph{all: pool.Must[*heldTask](nil)}
}

func (g *poolPointersGraph) live() int { return g.all.Len() }

func (g *poolPointersGraph) add(t task, after []pool.Handle[*heldTask]) pool.Handle[*heldTask] {
	v := &heldTask{task: t}
	h := inserted(g.all.Insert(v))
	for _, name := range after {
		if before, ok := g.all.Get(name); ok {
			before.next = append(before.next, h)
			v.waits++
		}
	}
	if v.waits == 0 {
		g.ready.push(v.urgency, h)
	}
	return h
}

func (g *poolPointersGraph) cancel(h pool.Handle[*heldTask]) (ids uint64) {
	t, ok := g.all.Get(h)
	if !ok || t.running {
		return 0
	}
	g.all.Remove(h)
	ids = t.id
	for _, next := range t.next {
		ids += g.cancel(next)
	}
	return ids
}

func (g *poolPointersGraph) take() (pool.Handle[*heldTask], *task, bool) {
	for {
		h, ok := g.ready.pop()
		if !ok {
			return 0, nil, false
		}
		if t, live := g.all.Get(h); live {
			t.running = true
			return h, &t.task, true
		}
	}
}

func (g *poolPointersGraph) done(h pool.Handle[*heldTask]) {
	t, _ := g.all.Take(h)
	for _, next := range t.next {
		if n, ok := g.all.Get(next); ok {
			if n.waits--; n.waits == 0 {
				g.ready.push(n.urgency, next)
			}
		}
	}
}
