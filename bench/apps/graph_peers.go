package apps

// pointerTask is a task behind pointers. gone says that it is done or cancelled, since a pointer
// does not tell.
type pointerTask struct {
	task
	gone bool
	next []*pointerTask
}

type pointerGraph struct {
	n     int
	ready ready[*pointerTask]
}

func newPointerGraph() tasks[*pointerTask] { return &pointerGraph{} }

func (g *pointerGraph) live() int { return g.n }

func (g *pointerGraph) add(t task, after []*pointerTask) *pointerTask {
	v := &pointerTask{task: t}
	g.n++
	for _, before := range after {
		if !before.gone {
			before.next = append(before.next, v)
			v.waits++
		}
	}
	if v.waits == 0 {
		g.ready.push(v.urgency, v)
	}
	return v
}

func (g *pointerGraph) cancel(t *pointerTask) (ids uint64) {
	if t.gone || t.running {
		return 0
	}
	g.n--
	t.gone, ids = true, t.id
	for _, next := range t.next {
		ids += g.cancel(next)
	}
	t.next = nil // so that a name keeps no others
	return ids
}

func (g *pointerGraph) take() (*pointerTask, *task, bool) {
	for {
		t, ok := g.ready.pop()
		if !ok {
			return nil, nil, false
		}
		if !t.gone {
			t.running = true
			return t, &t.task, true
		}
	}
}

func (g *pointerGraph) done(t *pointerTask) {
	g.n--
	t.gone = true
	for _, next := range t.next {
		if !next.gone {
			if next.waits--; next.waits == 0 {
				g.ready.push(next.urgency, next)
			}
		}
	}
	t.next = nil
}

type mapTask struct {
	task
	next []uint64
}

// mapGraph has its tasks in a map, which the graph's mutex guards.
type mapGraph struct {
	last  uint64
	all   map[uint64]*mapTask
	ready ready[uint64]
}

func newMapGraph() tasks[uint64] { return &mapGraph{all: map[uint64]*mapTask{}} }

func (g *mapGraph) live() int { return len(g.all) }

func (g *mapGraph) add(t task, after []uint64) uint64 {
	v := &mapTask{task: t}
	g.last++
	g.all[g.last] = v
	for _, name := range after {
		if before := g.all[name]; before != nil {
			before.next = append(before.next, g.last)
			v.waits++
		}
	}
	if v.waits == 0 {
		g.ready.push(v.urgency, g.last)
	}
	return g.last
}

func (g *mapGraph) cancel(key uint64) (ids uint64) {
	t := g.all[key]
	if t == nil || t.running {
		return 0
	}
	delete(g.all, key)
	ids = t.id
	for _, next := range t.next {
		ids += g.cancel(next)
	}
	return ids
}

func (g *mapGraph) take() (uint64, *task, bool) {
	for {
		key, ok := g.ready.pop()
		if !ok {
			return 0, nil, false
		}
		if t := g.all[key]; t != nil {
			t.running = true
			return key, &t.task, true
		}
	}
}

func (g *mapGraph) done(key uint64) {
	t := g.all[key]
	delete(g.all, key)
	for _, name := range t.next {
		if next := g.all[name]; next != nil {
			if next.waits--; next.waits == 0 {
				g.ready.push(next.urgency, name)
			}
		}
	}
}
