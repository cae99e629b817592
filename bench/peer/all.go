package peer

import (
	"reflect"
	"slices"

	"coatcheck/pool"
)

// The names of the peers: impl= in a benchmark's name.
const (
	NamePool     = "pool"
	NameFIFO     = "fifo"
	NameWorker   = "worker"
	NameMutex    = "mutex"
	NameSyncMap  = "syncmap"
	NameXsync    = "xsync"
	NameArk      = "ark"
	NameSyncPool = "syncpool"
	NameNew      = "new"
	NamePlain    = "plain"
	NameSlice    = "slice"
)

// All returns every peer, in the order of the report: ours, theirs, references.
func All[R any]() []Peer[R] { return slices.Concat(Ours[R](), Theirs[R](), References[R]()) }

// Ours returns the pool, LIFO and FIFO, and its Worker.
func Ours[R any]() []Peer[R] {
	return []Peer[R]{
		Pool[R](NamePool, nil),
		Pool(NameFIFO, func(o *pool.Options[Value[R]]) { o.Reuse = pool.FIFO }),
		Worker[R](NameWorker),
	}
}

// Theirs returns the contestants of the pool: a slot map under a lock, concurrent maps, and
// an ECS's world.
func Theirs[R any]() []Peer[R] {
	ps := []Peer[R]{Mutex[R](), SyncMap[R]()}
	// It holds values in place. From that size on it would be faster with pointers.
	if reflect.TypeFor[Value[R]]().Size() < 128 {
		ps = append(ps, Xsync[R]())
	}
	return append(ps, Ark[R]())
}

// References returns stores that do less: pointers, and floors for one goroutine.
func References[R any]() []Peer[R] {
	return []Peer[R]{SyncPool[R](), New[R](), Plain[R](), Slice[R]()}
}
