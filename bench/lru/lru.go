// Package lru is a cache that forgets what was used longest ago, with its values in a
// pool under a lock of its own.
//
// It shows what a pool is worth where its own concurrency is not needed, since one mutex
// guards the cache anyway. The order of the entries is kept beside the pool, in a slice
// by the slots' indexes: a hit changes it in four places, and there are more of them to
// a line of the processor's cache than of entries with pointers. The garbage collector
// finds no pointers at all, unless keys or values have some.
package lru

import (
	"errors"
	"sync"

	"coatcheck/pool"
)

// Cache has at most so many entries. It is safe for concurrent use. Make one with New.
type Cache[K comparable, V any] struct {
	mu     sync.Mutex // guards all of it
	size   int
	names  map[K]pool.Handle[V]
	values *pool.Pool[V]
	worker *pool.Worker[V] // one goroutine at a time: whoever has the lock
	places []place[K]      // by index of the slot
	newest uint32
	oldest uint32
}

// place is where an entry stands in the order of use.
type place[K comparable] struct {
	key          K
	newer, older uint32 // indexes
}

const none = 1<<32 - 1 // no index

// New returns a cache for so many entries.
func New[K comparable, V any](size int) (*Cache[K, V], error) {
	if size < 1 {
		return nil, errors.New("lru: a cache has room for one entry at least")
	}
	values := pool.Must[V](nil)
	return &Cache[K, V]{size: size, names: make(map[K]pool.Handle[V]), values: values, worker: values.Worker(), newest: none, oldest: none}, nil
}

// Add stores a value, as the newest, and reports whether the oldest had to go for it.
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
		panic(err) // there are no more handles
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

// Remove removes a value and reports whether it was there.
func (c *Cache[K, V]) Remove(key K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.names[key]
	if ok {
		c.remove(key)
	}
	return ok
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

// lead puts an entry before the newest.
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

// remove removes the entry of a key that there is. The key is forgotten where it stands.
func (c *Cache[K, V]) remove(key K) {
	h := c.names[key]
	c.unlink(h.Index())
	c.places[h.Index()] = place[K]{}
	delete(c.names, key)
	c.worker.Remove(h)
}
