package programs

import (
	"fmt"

	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// session is one processor's access to a store.
type session interface {
	insert(Value) uint64
	remove(uint64) bool
	get(uint64) (Value, bool)
}

// open returns a session for each of n processors of a store with at most about live values.
func open(impl string, n, live int) (ss []session) {
	var p *pool.Pool[Value]
	switch impl {
	case "pool", "worker", "guard":
		p = pool.Must[Value](nil)
	case "fifo":
		p = pool.Must(&pool.Options[Value]{Reuse: pool.FIFO})
	}
	m := newMaps(impl == "mutex", live)
	for g := range n {
		switch impl {
		case "pool", "fifo":
			ss = append(ss, poolSession{p})
		case "worker":
			ss = append(ss, workerSession{p.Worker()})
		case "guard":
			ss = append(ss, &guardSession{poolSession: poolSession{p}})
		default:
			ss = append(ss, &mapSession{maps: m, next: uint64(g+1) << 40})
		}
	}
	return ss
}

// fill inserts n values.
func fill(s session, n int) []uint64 {
	hs := make([]uint64, n)
	for i := range hs {
		hs[i] = s.insert(Value{ID: uint64(i)})
	}
	return hs
}

func remove(s session, h uint64) {
	if !s.remove(h) {
		panic("a live value was not removed")
	}
}

type handle = pool.Handle[Value]

type poolSession struct{ p *pool.Pool[Value] }

func (s poolSession) insert(v Value) uint64           { return must(s.p.Insert(v)) }
func (s poolSession) remove(h uint64) bool            { return s.p.Remove(handle(h)) }
func (s poolSession) get(h uint64) (v Value, ok bool) { return s.p.Get(handle(h)) }

type workerSession struct{ w *pool.Worker[Value] }

func (s workerSession) insert(v Value) uint64           { return must(s.w.Insert(v)) }
func (s workerSession) remove(h uint64) bool            { return s.w.Remove(handle(h)) }
func (s workerSession) get(h uint64) (v Value, ok bool) { return s.w.Get(handle(h)) }

func must(h handle, err error) uint64 {
	if err != nil {
		panic(fmt.Sprint("no slot: ", err))
	}
	return uint64(h)
}

// guardSession looks up by a guard, which it repins after every 64 look-ups.
type guardSession struct {
	poolSession
	_     [128]byte
	guard pool.Guard[Value]
	looks int
	_     [128]byte
}

func (s *guardSession) get(h uint64) (v Value, ok bool) {
	if s.looks%64 == 0 {
		if s.looks > 0 {
			s.guard.Unpin()
		}
		s.guard = s.p.Pin()
	}
	s.looks++
	at, ok := s.guard.Get(handle(h))
	if ok {
		atom.PlainRead(at)
		v = *at
	}
	return v, ok
}

// maps are the controls: a map under a mutex, or 64 of them.
type maps []part

const parts = 64

// part is one map. Its fields do not share lines with another's.
type part struct {
	mu    atom.Mutex
	m     map[uint64]Value
	lines []line // of the map, charged by touch
	_     [128]byte
}

// line is a cache line of a map: its header, its directory or a group.
type line [64]byte

// The work of a map under its lock apart from accesses, in nanoseconds, fitted to one
// processor.
const (
	mapLooks   = 8
	mapInserts = 22
	mapRemoves = 14
)

func newMaps(one bool, live int) maps {
	m := make(maps, parts)
	if one {
		m = m[:1]
	}
	for i := range m {
		m[i].m = make(map[uint64]Value)
		m[i].lines = make([]line, 2+4*(live/len(m)/7+1)) // a group has four lines for some seven values
	}
	return m
}

func (m maps) part(k uint64) *part {
	if len(m) == 1 {
		return &m[0]
	}
	return &m[k*0x9E3779B97F4A7C15>>58]
}

// touch charges an access of the map to k.
func (p *part) touch(k uint64, writes bool, nanoseconds float64) {
	if !atom.Charges {
		return
	}
	groups := uint64(len(p.lines)-2) / 4
	g := 2 + 4*(k*0xD6E8FEB86659FD93>>32%groups)
	for _, i := range [...]uint64{0, 1, g, g + 1 + k%3} {
		if writes {
			atom.PlainWrite(&p.lines[i])
		} else {
			atom.PlainRead(&p.lines[i])
		}
	}
	atom.Work(nanoseconds)
}

type mapSession struct {
	maps
	_    [128]byte
	next uint64
	_    [128]byte
}

func (s *mapSession) insert(v Value) uint64 {
	s.next++
	p := s.part(s.next)
	p.mu.Lock()
	p.touch(s.next, true, mapInserts)
	p.m[s.next] = v
	p.mu.Unlock()
	return s.next
}

func (s *mapSession) remove(k uint64) bool {
	p := s.part(k)
	p.mu.Lock()
	p.touch(k, true, mapRemoves)
	_, ok := p.m[k]
	delete(p.m, k)
	p.mu.Unlock()
	return ok
}

func (s *mapSession) get(k uint64) (v Value, ok bool) {
	p := s.part(k)
	p.mu.Lock()
	p.touch(k, false, mapLooks)
	v, ok = p.m[k]
	p.mu.Unlock()
	return v, ok
}

// ring carries batches of handles from one processor to another.
type ring struct {
	head  atom.Uint64 // batches sent
	_     [120]byte
	tail  atom.Uint64 // batches taken
	_     [120]byte
	slots [8][batch]uint64

	// Successive rounds in which the producer, and the consumer, had nothing to do.
	_        [128]byte
	produced int
	_        [128]byte
	consumed int
	_        [128]byte
}

// room returns the place of the next batch. If the ring is full, it pauses and returns nil.
func (q *ring) room() *[batch]uint64 {
	n := q.head.Load()
	if n-q.tail.Load() == uint64(len(q.slots)) {
		pause(&q.produced)
		return nil
	}
	q.produced = 0
	return &q.slots[n%uint64(len(q.slots))]
}

func (q *ring) sent() { q.head.Store(q.head.Load() + 1) }

// next returns the oldest batch. If there is none, it pauses and returns nil.
func (q *ring) next() *[batch]uint64 {
	n := q.tail.Load()
	if n == q.head.Load() {
		pause(&q.consumed)
		return nil
	}
	q.consumed = 0
	return &q.slots[n%uint64(len(q.slots))]
}

func (q *ring) taken() { q.tail.Store(q.tail.Load() + 1) }

// pause yields; after many rounds it sleeps.
func pause(waits *int) {
	*waits++
	atom.Pause(*waits / 64)
}

// random draws numbers by George Marsaglia's xorshift. It has cache lines of its own,
// against false sharing.
type random struct {
	_ [128]byte
	x uint64
	_ [128]byte
}

func newRandom(g int) *random { return &random{x: uint64(g+1) * 0x9E3779B97F4A7C15} }

func (r *random) below(n uint64) uint64 {
	x := r.x
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	r.x = x
	return (x >> 32) * n >> 32
}
