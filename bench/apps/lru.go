package apps

import (
	"math/rand/v2"
	"sync"

	"coatcheck/bench/peer"
	"coatcheck/pool"
)

// lru is a cache of values of 64 bytes, in parts with a mutex each. A value is found by its key,
// moves to the front of its part's list, and is computed if it is not there; then the last one of a
// full part leaves. All goroutines ask for the same keys, some far more often than others.
var lru = App{
	ID:    "LRU",
	Title: "LRU cache: a look-up, with its share of evictions",
	Versions: []Version{
		{peer.NamePool, cached(func(n int) part { return newPoolPart(n) })},
		{NamePointers, cached(func(n int) part { return newPointerPart(n) })},
		{peer.NameMap, cached(func(n int) part { return newMapPart(n) })},
	},
}

// content is a cached value, which its key determines.
type content [8]uint64

func compute(key uint64) (c content) {
	for i := range c {
		key = (key ^ key>>31) * 0x9e3779b97f4a7c15
		c[i] = key
	}
	return c
}

// part is a part of the cache on a contestant, under a mutex.
type part interface {
	get(key uint64) content
	missed() uint64
}

const parts = 16

func cached(open func(capacity int) part) func(Load) Outcome {
	return func(l Load) Outcome {
		capacity, lookups := l.share(64_000)/parts, l.share(1_000_000)/l.Goroutines
		type locked struct {
			mu sync.Mutex
			part
			_ [4]uint64 // no line is shared
		}
		var all [parts]locked
		for i := range all {
			all[i].part = open(capacity)
		}
		wrong := each(l.Goroutines, func(goroutine int) (wrong uint64) {
			random := rand.New(rand.NewPCG(1, uint64(goroutine)))
			for range lookups {
				// One of eight keys is one of all, the next one of half of them, and so on.
				draw := random.Uint64()
				key := draw % uint64(capacity*parts*8) >> (draw >> 61)
				p := &all[key%parts]
				p.mu.Lock()
				c := p.get(key)
				p.mu.Unlock()
				if c != compute(key) {
					wrong++
				}
			}
			return wrong
		})
		check(wrong == 0, "%d values were wrong", wrong)
		var missed uint64
		for i := range all {
			missed += all[i].missed()
		}
		check(missed > 0 && (l.Quick || missed < uint64(lookups*l.Goroutines)/2), "%d of %d look-ups missed", missed, lookups*l.Goroutines)
		return Outcome{Ops: lookups * l.Goroutines}
	}
}

// poolEntry has its neighbours' handles. All is under the part's mutex, so nothing needs a guard.
type poolEntry struct {
	content
	key        uint64
	prev, next pool.Handle[poolEntry]
}

type poolPart struct {
	all         *pool.Pool[poolEntry]
	find        map[uint64]pool.Handle[poolEntry]
	first, last pool.Handle[poolEntry]
	capacity    int
	misses      uint64
}

func newPoolPart(n int) *poolPart {
	opts := &pool.Options[poolEntry]{Shards: 1}
	return &poolPart{all: pool.Must(opts), find: make(map[uint64]pool.Handle[poolEntry], n), capacity: n}
}

func (p *poolPart) missed() uint64 { return p.misses }

func (p *poolPart) get(key uint64) content {
	h := p.find[key]
	e, ok := p.all.Pointer(h)
	switch {
	case !ok:
		p.misses++
		if len(p.find) == p.capacity {
			last, _ := p.all.Pointer(p.last)
			delete(p.find, last.key)
			h = p.last
			p.unlink(last)
			p.all.Remove(h)
		}
		h = inserted(p.all.InsertFunc(func(_ pool.Handle[poolEntry], v *poolEntry) {
			v.content, v.key, e = compute(key), key, v
		}))
		p.find[key] = h
	case h == p.first:
		return e.content
	default:
		p.unlink(e)
	}
	e.prev, e.next = 0, p.first
	if first, ok := p.all.Pointer(p.first); ok {
		first.prev = h
	} else {
		p.last = h
	}
	p.first = h
	return e.content
}

// unlink takes an entry out of the list.
func (p *poolPart) unlink(e *poolEntry) {
	if prev, ok := p.all.Pointer(e.prev); ok {
		prev.next = e.next
	} else {
		p.first = e.next
	}
	if next, ok := p.all.Pointer(e.next); ok {
		next.prev = e.prev
	} else {
		p.last = e.prev
	}
}
