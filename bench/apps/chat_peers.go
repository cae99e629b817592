package apps

import "sync"

// pointerSessions knows all sessions, so that they expire. Names are pointers, and a session says
// itself that it is closed.
type pointerSessions struct {
	mu  sync.Mutex
	all map[*session]struct{}
}

func (p *pointerSessions) live() int { return len(p.all) }

func (p *pointerSessions) join(connection uint32, now int64) *session {
	s := &session{connection: connection}
	s.posted.Store(now)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[s] = struct{}{}
	return s
}

func (p *pointerSessions) leave(s *session) bool {
	if s.closed.Swap(true) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, s)
	return true
}

func (p *pointerSessions) post(s *session, now int64) bool {
	s.posted.Store(now)
	return !s.closed.Load()
}

func (p *pointerSessions) deliver(members []*session) (n int) {
	for _, s := range members {
		if !s.closed.Load() {
			s.received.Add(1)
			members[n] = s
			n++
		}
	}
	return n
}

func (p *pointerSessions) expire(since int64) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.all {
		if s.idle(since) && !s.closed.Swap(true) {
			delete(p.all, s)
			n++
		}
	}
	return n
}

// namedSessions names sessions by the keys of a map.
type namedSessions struct{ named[*session] }

func (m namedSessions) join(connection uint32, now int64) uint64 {
	s := &session{connection: connection}
	s.posted.Store(now)
	return m.insert(s)
}

func (m namedSessions) leave(key uint64) bool {
	_, ok := m.remove(key)
	return ok
}

func (m namedSessions) post(key uint64, now int64) bool {
	s, ok := m.get(key)
	if ok {
		s.posted.Store(now)
	}
	return ok
}

func (m namedSessions) deliver(members []uint64) (n int) {
	for _, key := range members {
		if s, ok := m.get(key); ok {
			s.received.Add(1)
			members[n] = key
			n++
		}
	}
	return n
}

func (m namedSessions) expire(since int64) (n int) {
	var keys []uint64
	m.each(func(key uint64, s *session) {
		if s.idle(since) {
			keys = append(keys, key)
		}
	})
	for _, key := range keys {
		if m.leave(key) {
			n++
		}
	}
	return n
}

func (m namedSessions) live() (n int) {
	m.each(func(uint64, *session) { n++ })
	return n
}
