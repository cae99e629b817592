package peer

import (
	"reflect"
	"slices"

	"coatcheck/bench/suite"
)

// The names of the peers: impl= in a benchmark's name.
const (
	NamePool     = "pool"
	NameWorker   = "worker"
	NameGuard    = "pool-guard"
	NameMutex    = "mutex"
	NameMap      = "map"
	NameSyncMap  = "syncmap"
	NameXsync    = "xsync"
	NameArk      = "ark"
	NameSyncPool = "syncpool"
	NameNew      = "new"
	NamePlain    = "plain"
)

// All returns every peer, in the order of the report: the pool, its Worker, and its
// look-ups under a guard; what does the same job; references, which do less.
func All[R any]() []Peer[R] {
	ps := []Peer[R]{
		{About{Name: NamePool, Role: suite.Ours, Keys: true}, opener(newPoolSession[R])},
		{About{Name: NameWorker, Role: suite.Ours, Keys: true, Writes: true}, opener(newWorkerSession[R])},
		{About{Name: NameGuard, Role: suite.Ours, Keys: true, Reads: true}, opener(newGuardSession[R])},
		{About{Name: NameMutex, Keys: true}, openMutex[R]},
		{About{Name: NameMap, Keys: true}, openMap[R]},
		{About{Name: NameSyncMap, Keys: true}, openSyncMap[R]},
		{About{Name: NameXsync, Keys: true}, openXsync[R]},
		{About{Name: NameArk, Alone: true}, openArk[R]},
		{About{Name: NameSyncPool, Role: suite.Reference}, openSyncPool[R]},
		{About{Name: NameNew, Role: suite.Reference}, openNew[R]},
		{About{Name: NamePlain, Role: suite.Reference, Alone: true, Keys: true}, openPlain[R]},
	}
	// Xsync holds values in place. From that size on it would be faster with pointers.
	if reflect.TypeFor[Value[R]]().Size() >= 128 {
		ps = slices.DeleteFunc(ps, func(p Peer[R]) bool { return p.Name == NameXsync })
	}
	return ps
}

// Generic code is compiled where it is instantiated. The compiler inlines a short function of
// another package there only if a package on the way has inlined it. So one instance is here:
// without it, look-ups in ark and xsync would make calls.
var _ = All[Rest16]
