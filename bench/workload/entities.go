package workload

import (
	"fmt"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// An entity is what the comparison of entity allocators stores: an identity, a
// name, a flag.
type entityRest struct {
	Name string
	Flag bool
}

// perUnit is how many allocations, or accesses, that comparison counts as one.
const perUnit = 10_000

var anEntity = entityRest{Name: "entity", Flag: true}

// entities asks what 10,000 entities cost.
func entities() suite.Question {
	return suite.Question{
		ID:    "Entities",
		Title: "What does an entity cost, to allocate and to reach?",
		About: "10,000 entities of an identity, a name and a flag are made and then all reached once, in the order in which they were made; figures are for one of them. " +
			"Boxed (new) is an allocation each, with a slice of pointers; in place (slice, plain) everything lies in one slice, which is for one goroutine only, and slice cannot remove. " +
			"A preallocated store is used again and again, so its memory is in the cache; a growing one is new each time, and what it leaves to the garbage collector is paid for where it falls. " +
			"Emptying is not measured. Get of the pool gives a copy and two locked instructions, others a pointer.",
		Roles: rolesWith(nil),
		Own:   "by",
		Charts: []suite.Chart{
			{Title: "Allocate 10,000 entities", Unit: "ns/op", Where: map[string]string{"verb": "allocate"}},
			{Title: "Reach 10,000 entities", Unit: "ns/op", Where: map[string]string{"verb": "access"}},
		},
		Groups: func(env suite.Env) []suite.Group {
			ps := peersOf[entityRest](peer.NamePool, peer.NameWorker, peer.NameNew, peer.NameMutex, peer.NameArk, peer.NamePlain, peer.NameSlice)
			var growing, ready, access suite.Group
			for _, p := range ps {
				growing.Cases = append(growing.Cases, suite.Case{
					Impl:   p.Name,
					Params: []suite.Param{param("verb", "allocate"), param("start", "growing")},
					Open:   func() (suite.Run, error) { return allocateGrowing(p) },
				})
				ready.Cases = append(ready.Cases, suite.Case{
					Impl:   p.Name,
					Params: []suite.Param{param("verb", "allocate"), param("start", "preallocated")},
					Open:   func() (suite.Run, error) { return allocateReady(p) },
				})
				for _, by := range waysOf(p.Name) {
					access.Cases = append(access.Cases, suite.Case{
						Impl:   p.Name,
						Params: []suite.Param{param("verb", "access"), param("by", by)},
						Open:   func() (suite.Run, error) { return reach(p, by) },
					})
				}
			}
			return []suite.Group{growing, ready, access}
		},
	}
}

// waysOf returns by what an entity can be reached in a store.
func waysOf(impl string) []string {
	switch impl {
	case peer.NamePool:
		return []string{"handle", "ptr", "guard", "batch"}
	case peer.NameNew:
		return []string{"pointer"}
	case peer.NameSlice:
		return []string{"index"}
	}
	return []string{"handle"}
}

// allocateGrowing fills a new store for each 10,000. Names, which are as many for
// all, are made beforehand, by the session of a store that serves nothing else.
func allocateGrowing(p peer.Peer[entityRest]) (suite.Run, error) {
	config := peer.Config[entityRest]{Rest: anEntity, Live: perUnit, Sessions: 1, Grow: true}
	outside, err := p.Open(config)
	if err != nil {
		return nil, err
	}
	other := outside.Session()
	names := other.Names(perUnit)
	var watch stopwatch
	do := func(n int) (did int, err error) {
		for ; did < n; did += perUnit {
			watch.start()
			store, err := p.Open(config)
			if err != nil {
				return did, err
			}
			session := store.Session()
			session.Fill(names, 1)
			watch.stop()

			sum, failed := session.Empty(names)
			session.Close()
			err = emptied(store, perUnit, sum, failed)
			store.Close()
			if err != nil {
				return did, err
			}
		}
		return did, nil
	}
	end := func() error {
		other.Close()
		outside.Close()
		return nil
	}
	return &timedRun{plainRun{do, end}, &watch}, nil
}

// allocateReady fills one store that has the memory, again and again.
func allocateReady(p peer.Peer[entityRest]) (suite.Run, error) {
	store, err := p.Open(peer.Config[entityRest]{Rest: anEntity, Live: perUnit, Sessions: 1})
	if err != nil {
		return nil, err
	}
	var watch stopwatch
	session := store.Session()
	names := session.Names(perUnit)
	do := func(n int) (did int, err error) {
		for did < n {
			watch.start()
			session.Fill(names, 1)
			watch.stop()
			sum, failed := session.Empty(names)
			if failed != 0 || sum != sumTo(perUnit) {
				return did, emptied(store, perUnit, sum, failed)
			}
			did += perUnit
		}
		return did, nil
	}
	end := func() error {
		session.Close()
		left := store.Len()
		store.Close()
		if left > 0 {
			return fmt.Errorf("%d entities are left of those that were removed", left)
		}
		return nil
	}
	return &timedRun{plainRun{do, end}, &watch}, nil
}

// reach reads all of 10,000 entities, in the order of their allocation.
func reach(p peer.Peer[entityRest], by string) (suite.Run, error) {
	store, err := p.Open(peer.Config[entityRest]{Rest: anEntity, Live: perUnit, Sessions: 1})
	if err != nil {
		return nil, err
	}
	session := store.Session()
	names := session.Names(perUnit)
	session.Fill(names, 1)
	read := session.Read
	switch by {
	case "ptr":
		read = session.(peer.Owned).ReadOwned
	case "guard":
		read = session.(peer.Pinned).ReadPinned
	case "batch":
		read = session.(peer.Batched).ReadBatch
	}
	picks := upTo(perUnit)
	do := func(n int) (did int, err error) {
		for ; did < n; did += perUnit {
			if read(names, picks) != sumTo(perUnit) {
				return did, errSum
			}
		}
		return did, nil
	}
	end := func() error {
		sum, failed := session.Empty(names)
		session.Close()
		defer store.Close()
		return emptied(store, perUnit, sum, failed)
	}
	return &plainRun{do, end}, nil
}
