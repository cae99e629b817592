package apps

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"coatcheck/bench/peer"
	"coatcheck/pool"
)

// chat has a registry of sessions, and rooms that know their members by name. A message goes to all
// members of a room. Sessions come and go, and one that has not posted for long is removed. So a
// room finds names of sessions that are gone, and drops them. Each goroutine serves some of the
// connections; all share the rooms, which have a mutex each.
var chat = App{
	ID:    "Chat",
	Title: "Chat: a message to sixteen sessions of a registry with a timeout",
	Versions: []Version{
		{peer.NameGuard, chatted(func() registry[pool.Handle[session]] { return placedSessions{pool.Must[session](nil)} })},
		{NamePoolPointers, chatted(func() registry[pool.Handle[*session]] { return heldSessions{pool.Must[*session](nil)} })},
		{NamePointers, chatted(func() registry[*session] { return &pointerSessions{all: map[*session]struct{}{}} })},
		{peer.NameMap, chatted(func() registry[uint64] { return &namedSessions{newLocked[*session]()} })},
		{peer.NameXsync, chatted(func() registry[uint64] { return &namedSessions{newXsync[*session]()} })},
	},
}

// session is a connection's. Several goroutines change it.
type session struct {
	connection uint32
	closed     atomic.Bool // where no registry tells
	received   atomic.Uint64
	posted     atomic.Int64 // when
	padding    [4]uint64
}

func (s *session) idle(since int64) bool { return s.posted.Load() < since }

// registry is the sessions on a contestant, which any goroutine may use at once. N is what names
// one.
type registry[N any] interface {
	join(connection uint32, now int64) N
	leave(N) bool
	// post notes that a session posts, and reports whether it is there.
	post(n N, now int64) bool
	// deliver gives a message to the members. It moves those that are there to the front, and
	// returns their number.
	deliver(members []N) int
	// expire removes the sessions that have not posted since then, and returns their number.
	expire(since int64) int
	live() int
}

// placedSessions has the sessions in the pool. A guard is pinned for each message.
type placedSessions struct{ *pool.Pool[session] }

func (p placedSessions) live() int                         { return p.Len() }
func (p placedSessions) leave(h pool.Handle[session]) bool { return p.Remove(h) }

func (p placedSessions) join(connection uint32, now int64) pool.Handle[session] {
	return inserted(p.InsertFunc(func(_ pool.Handle[session], s *session) {
		s.connection = connection
		s.posted.Store(now)
	}))
}

func (p placedSessions) post(h pool.Handle[session], now int64) bool {
	return p.View(h, func(s *session) { s.posted.Store(now) })
}

func (p placedSessions) deliver(members []pool.Handle[session]) (n int) {
	g := p.Pin()
	for _, h := range members {
		if s, ok := g.Pointer(h); ok {
			s.received.Add(1)
			members[n] = h
			n++
		}
	}
	g.Unpin()
	return n
}

func (p placedSessions) expire(since int64) int {
	return p.DeleteFunc(func(_ pool.Handle[session], s *session) bool { return s.idle(since) })
}

// heldSessions has pointers in the pool, and needs no guard.
type heldSessions struct{ *pool.Pool[*session] }

func (p heldSessions) live() int                          { return p.Len() }
func (p heldSessions) leave(h pool.Handle[*session]) bool { return p.Remove(h) }

func (p heldSessions) join(connection uint32, now int64) pool.Handle[*session] {
	s := &session{connection: connection}
	s.posted.Store(now)
	return inserted(p.Insert(s))
}

func (p heldSessions) post(h pool.Handle[*session], now int64) bool {
	s, ok := p.Get(h)
	if ok {
		s.posted.Store(now)
	}
	return ok
}

func (p heldSessions) deliver(members []pool.Handle[*session]) (n int) {
	for _, h := range members {
		if s, ok := p.Get(h); ok {
			s.received.Add(1)
			members[n] = h
			n++
		}
	}
	return n
}

func (p heldSessions) expire(since int64) int {
	return p.DeleteFunc(func(_ pool.Handle[*session], s **session) bool { return (*s).idle(since) })
}

func chatted[N any](open func() registry[N]) func(Load) Outcome {
	return func(l Load) Outcome {
		type room struct {
			mu      sync.Mutex
			members []N
		}
		all, connections := open(), max(l.share(16_000)/l.Goroutines, 1)
		rooms := make([]room, max(connections*l.Goroutines/16, 1))
		messages, timeout := 20*connections, int64(4*connections*l.Goroutines)
		var clock, joined, gone, delivered atomic.Int64
		var ready sync.WaitGroup
		ready.Add(l.Goroutines)
		each(l.Goroutines, func(goroutine int) uint64 {
			random := rand.New(rand.NewPCG(1, uint64(goroutine)))
			names, joins := make([]N, connections), make([]*room, connections)
			join := func(i int) {
				names[i], joins[i] = all.join(uint32(i), clock.Load()), &rooms[random.IntN(len(rooms))]
				joined.Add(1)
				joins[i].mu.Lock()
				joins[i].members = append(joins[i].members, names[i])
				joins[i].mu.Unlock()
			}
			for i := range names {
				join(i)
			}
			ready.Done()
			ready.Wait()
			for message := range messages {
				if message%16 == 0 {
					runtime.Gosched() // as where a connection waits; else one would run long after the others
				}
				i, now := random.IntN(connections), clock.Add(1)
				if !all.post(names[i], now) {
					join(i) // it had expired
				}
				r := joins[i]
				r.mu.Lock()
				n := all.deliver(r.members)
				clear(r.members[n:])
				r.members = r.members[:n]
				r.mu.Unlock()
				delivered.Add(int64(n))
				if now%4 == 0 && all.leave(names[i]) {
					gone.Add(1)
					join(i)
				}
				if now%(timeout/16+1) == 0 {
					gone.Add(int64(all.expire(now - timeout)))
				}
			}
			return 0
		})
		n := int64(messages * l.Goroutines)
		check(joined.Load() == gone.Load()+int64(all.live()), "%d sessions joined, %d are gone, %d left", joined.Load(), gone.Load(), all.live())
		check(delivered.Load() > 8*n || l.Quick, "%d deliveries of %d messages", delivered.Load(), n)
		return Outcome{Ops: int(n)}
	}
}
