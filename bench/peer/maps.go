package peer

import (
	"sync"

	cmap "github.com/orcaman/concurrent-map/v2"
	"github.com/puzpuzpuz/xsync/v4"
)

// The maps name a value by the next number, which is never used again, so a stale name is
// missing.

// SyncMap is sync.Map. It boxes values, so they are pointers.
func SyncMap[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameSyncMap, Keys: true},
		Open: func(c Config[R]) (Store, error) {
			values := new(sync.Map)
			return store{
				session: func() Session { return &syncMapSession[R]{keys: newKeys(), values: values, rest: c.Rest} },
				all: func() (n int, sum uint64) {
					values.Range(func(_, v any) bool {
						n++
						sum += v.(*Value[R]).ID
						return true
					})
					return
				},
			}, nil
		},
	}
}

type syncMapSession[R any] struct {
	words
	keys
	values *sync.Map
	rest   R
}

func (s *syncMapSession[R]) put(id uint64) uint64 {
	k := s.key()
	s.values.Store(k, &Value[R]{id, s.rest})
	return k
}

func (s *syncMapSession[R]) look(n uint64) (uint64, bool) {
	if v, ok := s.values.Load(n); ok {
		return v.(*Value[R]).ID, true
	}
	return 0, false
}

func (s *syncMapSession[R]) drop(n uint64) bool {
	_, ok := s.values.LoadAndDelete(n)
	return ok
}

// Xsync is xsync's map. It allocates an entry for each insertion, so small values are
// faster in place. Large ones, which every operation copies, would be faster by pointer.
func Xsync[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameXsync, Keys: true},
		Open: func(c Config[R]) (Store, error) {
			var presize []func(*xsync.MapConfig)
			if !c.Grow {
				presize = append(presize, xsync.WithPresize(c.Live+c.Sessions))
			}
			values := xsync.NewMap[uint64, Value[R]](presize...)
			return store{
				session: func() Session { return &xsyncSession[R]{keys: newKeys(), values: values, rest: c.Rest} },
				len:     values.Size,
				all: func() (n int, sum uint64) {
					for _, v := range values.All() {
						n++
						sum += v.ID
					}
					return
				},
			}, nil
		},
	}
}

// xsyncBoxes is the size in bytes from which on xsync would be faster with pointers.
const xsyncBoxes = 128

type xsyncSession[R any] struct {
	words
	keys
	values *xsync.Map[uint64, Value[R]]
	rest   R
}

func (s *xsyncSession[R]) put(id uint64) uint64 {
	k := s.key()
	s.values.Store(k, Value[R]{id, s.rest})
	return k
}

func (s *xsyncSession[R]) look(n uint64) (uint64, bool) {
	v, ok := s.values.Load(n)
	return v.ID, ok
}

func (s *xsyncSession[R]) drop(n uint64) bool {
	_, ok := s.values.LoadAndDelete(n)
	return ok
}

// Orcaman is orcaman's map: built-in maps, each under a lock of its own. A built-in map
// holds a small value in place, without an allocation, and copies it in every operation.
// At 64 bytes a look-up would be 1.8 times as fast by pointer.
func Orcaman[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameOrcaman, Keys: true},
		Open: func(c Config[R]) (Store, error) {
			// Successive keys take the locks in turn, the cheapest and most even hash.
			values := cmap.NewWithCustomShardingFunction[uint64, Value[R]](func(k uint64) uint32 { return uint32(k) })
			return store{
				session: func() Session { return &orcamanSession[R]{keys: newKeys(), values: values, rest: c.Rest} },
				len:     values.Count,
				all: func() (n int, sum uint64) {
					values.IterCb(func(_ uint64, v Value[R]) {
						n++
						sum += v.ID
					})
					return
				},
			}, nil
		},
	}
}

// orcamanBoxes is the size in bytes from which on orcaman would be faster with pointers.
const orcamanBoxes = 64

type orcamanSession[R any] struct {
	words
	keys
	values cmap.ConcurrentMap[uint64, Value[R]]
	rest   R
}

func (s *orcamanSession[R]) put(id uint64) uint64 {
	k := s.key()
	s.values.Set(k, Value[R]{id, s.rest})
	return k
}

func (s *orcamanSession[R]) look(n uint64) (uint64, bool) {
	v, ok := s.values.Get(n)
	return v.ID, ok
}

func (s *orcamanSession[R]) drop(n uint64) bool {
	_, ok := s.values.Pop(n)
	return ok
}
