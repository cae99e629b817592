package workload

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/jackc/puddle/v2"
	"github.com/maypok86/otter/v2"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/turns"
	"coatcheck/pool"
	"coatcheck/pool/cgohandle"
)

// The contestants of Others.
const (
	NameOtter  = "otter"
	NamePuddle = "puddle"
)

// others has stores for another purpose, each in a use for which a pool would do as well: a cache as a
// store by name, a pool of resources that wait idle, and names for C. The first two do more there than the pool:
// otter counts how often a value is used, and puddle keeps the time of each use.
func others() suite.Question {
	chart := func(use, title string) suite.Chart {
		return suite.Chart{Title: title, Unit: "ns/op", Where: map[string]string{"use": use}}
	}
	return suite.Question{
		ID:    "Others",
		Title: "Stores for another purpose",
		Charts: []suite.Chart{
			chart("cached", "A look-up among 10,000 values, in a cache"),
			chart("idle", "To acquire and release one of a few idle resources"),
			chart("named", "To make a name for a Go value, look it up and delete it"),
		},
		Groups: func(env suite.Env) (groups []suite.Group) {
			live := sizesOf(env, 10_000)[0]
			for _, goroutines := range goroutinesOf(env) {
				for _, cases := range [][]suite.Case{
					{otherCase(NameOtter, "cached", live, goroutines, openOtter), otherCase(peer.NamePool, "cached", live, goroutines, openLookups)},
					{otherCase(NamePuddle, "idle", 2*goroutines, goroutines, openPuddle), otherCase(peer.NamePool, "idle", 2*goroutines, goroutines, openIdle)},
					{otherCase(peer.NameSyncMap, "named", 1_000, goroutines, openCgo), otherCase(peer.NamePool, "named", 1_000, goroutines, openNames)},
				} {
					groups = append(groups, suite.Group{Cases: cases})
				}
			}
			return groups
		},
	}
}

// otherCase has operations of one use, each of which open's function does once and checks.
func otherCase(impl, use string, live, goroutines int, open func(live int) func(i int) bool) suite.Case {
	params := []suite.Param{param("use", use), number("live", live)}
	return suite.Case{Impl: impl, Params: params, Goroutines: goroutines, Open: func() suite.Run {
		do, works := open(live), turns.Crew{}
		for g := range goroutines {
			picks := &cycle{all: draw(g, many(live), live)}
			works = append(works, func(n int) (int, error) {
				return picks.each(n, func(some []uint32) error {
					for _, i := range some {
						if !do(int(i)) {
							return fmt.Errorf("operation %d of %s has a wrong result", i, impl)
						}
					}
					return nil
				})
			})
		}
		return suite.Run{Do: works.Do}
	}}
}

func openOtter(live int) func(int) bool {
	c := otter.Must(&otter.Options[uint64, uint64]{MaximumSize: 2 * live})
	for i := range uint64(live) {
		c.Set(i, i)
	}
	return func(i int) bool {
		v, ok := c.GetIfPresent(uint64(i))
		return ok && v == uint64(i)
	}
}

func openLookups(live int) func(int) bool {
	p, all := pool.Must[uint64](nil), make([]pool.Handle[uint64], live)
	for i := range all {
		all[i] = inserted(p.Insert(uint64(i)))
	}
	return func(i int) bool {
		v, ok := p.Get(all[i])
		return ok && v == uint64(i)
	}
}

// openPuddle acquires from as many resources as may be in use at once, twice over.
func openPuddle(live int) func(int) bool {
	ctx := context.Background()
	p, err := puddle.NewPool(&puddle.Config[*entry]{
		Constructor: func(context.Context) (*entry, error) { return newEntry(), nil },
		Destructor:  func(*entry) {}, MaxSize: int32(live),
	})
	if err != nil {
		panic(err)
	}
	return func(int) bool {
		r, err := p.Acquire(ctx)
		if err != nil {
			return false
		}
		ok := r.Value().rest[0] == 1
		r.Release()
		return ok
	}
}

// openIdle keeps what is idle in vacant slots, by a Reset that leaves it there.
func openIdle(live int) func(int) bool {
	ctx := context.Background()
	p := pool.Must(&pool.Options[*entry]{Capacity: live, Reset: func(**entry) {}})
	return func(int) (ok bool) {
		h, err := p.InsertFuncWait(ctx, func(_ pool.Handle[*entry], e **entry) {
			if *e == nil {
				*e = newEntry()
			}
			ok = (*e).rest[0] == 1
		})
		return err == nil && p.Remove(h) && ok
	}
}

// openCgo does what runtime/cgo.Handle does, which links only with cgo.
func openCgo(live int) func(int) bool {
	var last atomic.Uintptr
	var all sync.Map
	insert := func(v any) uintptr {
		h := last.Add(1)
		all.Store(h, v)
		return h
	}
	v := newEntry()
	for range live {
		insert(v)
	}
	return func(int) bool {
		h := insert(v)
		found, _ := all.Load(h)
		_, ok := all.LoadAndDelete(h)
		return ok && found.(*entry) == v
	}
}

func openNames(live int) func(int) bool {
	v := newEntry()
	for range live {
		cgohandle.New(v)
	}
	return func(int) bool {
		h := cgohandle.New(v)
		found := h.Value().(*entry)
		h.Delete()
		return found == v
	}
}
