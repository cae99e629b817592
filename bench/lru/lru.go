// Package lru is an LRU cache whose values are in a pool, under one mutex.
//
// It shows what a pool is worth where its concurrency is not needed. The order of the
// entries is a slice beside the pool, by slot index: a hit changes four places, and a cache
// line has more of them than of entries with pointers. The garbage collector finds no
// pointers, unless keys or values have some.
package lru

import (
	"errors"
	"sync"

	"coatcheck/pool"
)

// Cache is an LRU cache with a maximum size. It is safe for concurrent use. Make one with New.
type Cache[K comparable, V any] struct {
	mu     sync.Mutex // guards all fields
	size   int
	names  map[K]pool.Handle[V]
	values *pool.Pool[V]
	worker *pool.Worker[V] // used by the goroutine that has the lock
	places []place[K]      // by slot index
	newest uint32
	oldest uint32
}

// place is the place of an entry in the order of use.
type place[K comparable] struct {
	key          K
	newer, older uint32 // indexes
}

const none = 1<<32 - 1 // no index

// New returns a cache of at most size entries.
func New[K comparable, V any](size int) (*Cache[K, V], error) {
	if size < 1 {
		return nil, errors.New("lru: the size is below one")
	}
	values := pool.Must[V](nil)
	return &Cache[K, V]{size: size, names: make(map[K]pool.Handle[V]), values: values, worker: values.Worker(), newest: none, oldest: none}, nil
}

// Add stores a value, which becomes the newest, and reports whether it evicted the oldest.
func (c *Cache[K, V]) Add(key K, value V) (evicted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h, ok := c.names[key]; ok {
		c.touch(h.Index())
		c.values.View(h, func(v *V) { *v = value })
		return false
	}
	if evicted = len(c.names) == c.size; evicted {
		c.remove(c.places[c.oldest].key)
	}
	h, err := c.worker.Insert(value)
	if err != nil {
		panic(err) // no slot has a generation left
	}
	for uint64(len(c.places)) <= uint64(h.Index()) {
		c.places = append(c.places, place[K]{})
	}
	c.names[key] = h
	c.places[h.Index()].key = key
	c.lead(h.Index())
	return evicted
}

// Get returns a value, which becomes the newest.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	h, ok := c.names[key]
	if ok {
		c.touch(h.Index())
		value, _ = c.values.Get(h)
	}
	c.mu.Unlock()
	return value, ok
}

// Len returns the number of entries.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.names)
}

// Keys returns the keys, from the oldest to the newest.
func (c *Cache[K, V]) Keys() []K {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := make([]K, 0, len(c.names))
	for i := c.oldest; i != none; i = c.places[i].newer {
		keys = append(keys, c.places[i].key)
	}
	return keys
}

// touch makes an entry the newest.
func (c *Cache[K, V]) touch(i uint32) {
	if i != c.newest {
		c.unlink(i)
		c.lead(i)
	}
}

// lead links an entry before the newest.
func (c *Cache[K, V]) lead(i uint32) {
	c.places[i].newer, c.places[i].older = none, c.newest
	if c.newest == none {
		c.oldest = i
	} else {
		c.places[c.newest].newer = i
	}
	c.newest = i
}

func (c *Cache[K, V]) unlink(i uint32) {
	p := &c.places[i]
	if p.newer == none {
		c.newest = p.older
	} else {
		c.places[p.newer].older = p.older
	}
	if p.older == none {
		c.oldest = p.newer
	} else {
		c.places[p.older].newer = p.newer
	}
}

// remove removes the entry of a key that exists.
func (c *Cache[K, V]) remove(key K) {
	h := c.names[key]
	c.unlink(h.Index())
	c.places[h.Index()] = place[K]{}
	delete(c.names, key)
	c.worker.Remove(h)
}
