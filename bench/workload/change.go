package workload

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v4"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/turns"
	"coatcheck/pool"
)

// NamePointers is the contestant that keeps pointers in a pool.
const NamePointers = "pool-pointers"

// change stores a value of 64 bytes, changes it in place ten times by its name, and removes it,
// while 1,000 other values are live. Each goroutine changes values of its own. Other goroutines
// may reach them in a real program, so a change is atomic, or under the mutex. The last change
// shows whether all of them reached the value.
//
// The contestants are what a program can choose from: values in a pool, by View, or under a Guard
// with a Worker; pointers in a pool, by Get; pointers in a map.
func change() suite.Question {
	return suite.Question{
		ID:     "Change",
		Title:  "Store a value, change it in place ten times, and remove it",
		Charts: []suite.Chart{{Unit: "ns/op"}},
		Groups: func(env suite.Env) (groups []suite.Group) {
			others := sizesOf(env, 1_000)[0]
			for _, goroutines := range goroutinesOf(env) {
				var cases []suite.Case
				for _, c := range changers {
					cases = append(cases, changeCase(c.impl, c.open, goroutines, others))
				}
				groups = append(groups, suite.Group{Cases: cases})
			}
			return groups
		},
	}
}

// changes is how often a value is changed.
const changes = 10

// entry is a value that changes, such as a session.
type entry struct {
	changed atomic.Uint64
	rest    [7]uint64
}

// lockedEntry is an entry that a mutex guards.
type lockedEntry struct {
	changed uint64
	rest    [7]uint64
}

// changer is one goroutine's access to a store of entries. It stores one, changes it as often as
// changes says and removes it. It returns the count of the last change, and whether the removal
// succeeded.
type changer = func() (changed uint64, ok bool)

var changers = []struct {
	impl string
	open func(others int) (session func() changer)
}{
	{peer.NamePool, openViews},
	{peer.NameWorker, openGuards},
	{NamePointers, openPointers},
	{peer.NameMap, openMap},
	{peer.NameSyncMap, openSyncMap},
	{peer.NameXsync, openXsync},
}

func changeCase(impl string, open func(others int) func() changer, goroutines, others int) suite.Case {
	params := []suite.Param{{Key: "value", Value: "64B"}, number("live", others)}
	return suite.Case{Impl: impl, Params: params, Goroutines: goroutines, Open: func() suite.Run {
		session, works := open(others), turns.Crew{}
		for range goroutines {
			works = append(works, changing(session()))
		}
		return suite.Run{Do: works.Do}
	}}
}

// changing is the work of a changer.
func changing(do changer) turns.Work {
	return func(n int) (int, error) {
		for i := range n {
			if changed, ok := do(); !ok || changed != changes {
				return i, fmt.Errorf("a value was changed %d times, want %d; it was removed: %v", changed, changes, ok)
			}
		}
		return n, nil
	}
}

// build builds an entry in its slot.
func build(_ pool.Handle[entry], e *entry) { e.rest[0] = 1 }

// built returns a pool with that many entries.
func built(n int) *pool.Pool[entry] {
	p := pool.Must[entry](nil)
	for range n {
		inserted(p.InsertFunc(build))
	}
	return p
}

func inserted[T any](h pool.Handle[T], err error) pool.Handle[T] {
	if err != nil {
		panic(err)
	}
	return h
}

// openViews opens a pool of values, each of which is built in its slot and changed by View.
func openViews(others int) func() changer {
	p := built(others)
	return func() changer {
		return func() (changed uint64, ok bool) {
			h := inserted(p.InsertFunc(build))
			for range changes {
				p.View(h, func(e *entry) { changed = e.changed.Add(1) })
			}
			return changed, p.Remove(h)
		}
	}
}

// openGuards opens a pool of values. Each goroutine has a Worker, and pins a Guard for the
// changes of a value.
func openGuards(others int) func() changer {
	p := built(others)
	return func() changer {
		w := p.Worker()
		return func() (changed uint64, ok bool) {
			h := inserted(w.InsertFunc(build))
			g := p.Pin()
			for range changes {
				if e, live := g.Pointer(h); live {
					changed = e.changed.Add(1)
				}
			}
			g.Unpin()
			return changed, w.Remove(h)
		}
	}
}

// openPointers opens a pool of pointers, which Get copies.
func openPointers(others int) func() changer {
	p := pool.Must[*entry](nil)
	for range others {
		inserted(p.Insert(newEntry()))
	}
	return func() changer {
		return func() (changed uint64, ok bool) {
			h := inserted(p.Insert(newEntry()))
			for range changes {
				if e, live := p.Get(h); live {
					changed = e.changed.Add(1)
				}
			}
			return changed, p.Remove(h)
		}
	}
}

func newEntry() *entry { return &entry{rest: [7]uint64{1}} }

// openMap opens a map of pointers. Its mutex guards the entries as well.
func openMap(others int) func() changer {
	var mu sync.Mutex
	var last uint64
	m := map[uint64]*lockedEntry{}
	insert := func() uint64 {
		e := &lockedEntry{rest: [7]uint64{1}}
		mu.Lock()
		last++
		k := last
		m[k] = e
		mu.Unlock()
		return k
	}
	for range others {
		insert()
	}
	return func() changer {
		return func() (changed uint64, ok bool) {
			k := insert()
			for range changes {
				mu.Lock()
				if e := m[k]; e != nil {
					e.changed++
					changed = e.changed
				}
				mu.Unlock()
			}
			mu.Lock()
			_, ok = m[k]
			delete(m, k)
			mu.Unlock()
			return changed, ok
		}
	}
}

// openSyncMap opens a sync.Map of pointers.
func openSyncMap(others int) func() changer {
	var last atomic.Uint64
	m := new(sync.Map)
	insert := func() uint64 {
		k := last.Add(1)
		m.Store(k, newEntry())
		return k
	}
	for range others {
		insert()
	}
	return func() changer {
		return func() (changed uint64, ok bool) {
			k := insert()
			for range changes {
				if e, live := m.Load(k); live {
					changed = e.(*entry).changed.Add(1)
				}
			}
			_, ok = m.LoadAndDelete(k)
			return changed, ok
		}
	}
}

// openXsync opens xsync's map of pointers.
func openXsync(others int) func() changer {
	var last atomic.Uint64
	m := xsync.NewMap[uint64, *entry]()
	insert := func() uint64 {
		k := last.Add(1)
		m.Store(k, newEntry())
		return k
	}
	for range others {
		insert()
	}
	return func() changer {
		return func() (changed uint64, ok bool) {
			k := insert()
			for range changes {
				if e, live := m.Load(k); live {
					changed = e.changed.Add(1)
				}
			}
			_, ok = m.LoadAndDelete(k)
			return changed, ok
		}
	}
}
