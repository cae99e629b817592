package apps

type pointerEntry struct {
	content
	key        uint64
	prev, next *pointerEntry
}

type pointerPart struct {
	find        map[uint64]*pointerEntry
	first, last *pointerEntry
	capacity    int
	misses      uint64
}

func newPointerPart(n int) *pointerPart {
	return &pointerPart{find: make(map[uint64]*pointerEntry, n), capacity: n}
}

func (p *pointerPart) missed() uint64 { return p.misses }

func (p *pointerPart) get(key uint64) content {
	e := p.find[key]
	switch e {
	case nil:
		p.misses++
		if len(p.find) == p.capacity {
			delete(p.find, p.last.key)
			p.unlink(p.last)
		}
		e = &pointerEntry{content: compute(key), key: key}
		p.find[key] = e
	case p.first:
		return e.content
	default:
		p.unlink(e)
	}
	e.prev, e.next = nil, p.first
	if p.first != nil {
		p.first.prev = e
	} else {
		p.last = e
	}
	p.first = e
	return e.content
}

// unlink takes an entry out of the list.
func (p *pointerPart) unlink(e *pointerEntry) {
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		p.first = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		p.last = e.prev
	}
}

// mapEntry has its neighbours' keys. No key is 0: the part counts them from 1.
type mapEntry struct {
	content
	prev, next uint64
}

// mapPart has entries in the map itself, and no pointers, so that the collector does not follow
// them.
type mapPart struct {
	all         map[uint64]mapEntry
	first, last uint64
	capacity    int
	misses      uint64
}

func newMapPart(n int) *mapPart {
	return &mapPart{all: make(map[uint64]mapEntry, n), capacity: n}
}

func (p *mapPart) missed() uint64 { return p.misses }

func (p *mapPart) get(key uint64) content {
	key++
	e, ok := p.all[key]
	switch {
	case !ok:
		p.misses++
		if len(p.all) == p.capacity {
			last := p.last
			p.unlink(p.all[last])
			delete(p.all, last)
		}
		e.content = compute(key - 1)
	case key == p.first:
		return e.content
	default:
		p.unlink(e)
	}
	e.prev, e.next = 0, p.first
	if p.first != 0 {
		p.change(p.first, func(e *mapEntry) { e.prev = key })
	} else {
		p.last = key
	}
	p.first = key
	p.all[key] = e
	return e.content
}

// unlink takes an entry out of the list.
func (p *mapPart) unlink(e mapEntry) {
	if e.prev != 0 {
		p.change(e.prev, func(prev *mapEntry) { prev.next = e.next })
	} else {
		p.first = e.next
	}
	if e.next != 0 {
		p.change(e.next, func(next *mapEntry) { next.prev = e.prev })
	} else {
		p.last = e.prev
	}
}

func (p *mapPart) change(key uint64, f func(*mapEntry)) {
	e := p.all[key]
	f(&e)
	p.all[key] = e
}
