package apps

import (
	"sync"
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v4"
)

// named is a map whose keys are counted. It is what programs have that cannot name values by
// pointers.
type named[V any] interface {
	insert(v V) (key uint64)
	get(key uint64) (V, bool)
	remove(key uint64) (V, bool)
	// each calls f with all values, which f must not remove.
	each(f func(key uint64, v V))
}

// locked is a map under a mutex.
type locked[V any] struct {
	mu   sync.RWMutex
	last uint64
	m    map[uint64]V
}

func newLocked[V any]() named[V] { return &locked[V]{m: map[uint64]V{}} }

func (l *locked[V]) insert(v V) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	l.m[l.last] = v
	return l.last
}

func (l *locked[V]) get(key uint64) (V, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	v, ok := l.m[key]
	return v, ok
}

func (l *locked[V]) remove(key uint64) (V, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, ok := l.m[key]
	delete(l.m, key)
	return v, ok
}

func (l *locked[V]) each(f func(uint64, V)) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for key, v := range l.m {
		f(key, v)
	}
}

// xmap is an xsync.Map.
type xmap[V any] struct {
	last atomic.Uint64
	m    *xsync.Map[uint64, V]
}

func newXsync[V any]() named[V] { return &xmap[V]{m: xsync.NewMap[uint64, V]()} }

func (x *xmap[V]) insert(v V) uint64 {
	key := x.last.Add(1)
	x.m.Store(key, v)
	return key
}

func (x *xmap[V]) get(key uint64) (V, bool)    { return x.m.Load(key) }
func (x *xmap[V]) remove(key uint64) (V, bool) { return x.m.LoadAndDelete(key) }

func (x *xmap[V]) each(f func(uint64, V)) {
	for key, v := range x.m.All() {
		f(key, v)
	}
}
