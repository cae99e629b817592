package workload

import (
	"fmt"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// entityRest makes a value the entity that comparisons of entity allocators use.
type entityRest struct {
	Name string
	Flag bool
}

// perUnit is the number of entities of a store.
const perUnit = 10_000

var anEntity = entityRest{Name: "entity", Flag: true}

func entities() suite.Question {
	return suite.Question{
		ID:    "Entities",
		Title: "What does an entity cost, to allocate and to reach?",
		About: "10,000 entities of an identity, a name and a flag are made, and then each is reached once in the same order; figures are for one entity. " +
			"new allocates each entity; slice and plain keep all in one slice, which is for one goroutine, and slice checks no name. " +
			"A preallocated store is reused, so its memory is in the cache; a growing one is new each time, and its garbage is collected during the turns. " +
			"Emptying is not measured. Look-ups by handle in pool and mutex return a copy, the others a pointer.",
		Roles: rolesWith(),
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

// waysOf returns the ways to reach an entity.
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

// allocateGrowing fills a new store each time. A session of another store makes the names
// beforehand.
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

// allocateReady fills and empties one preallocated store, repeatedly.
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
			return fmt.Errorf("%d removed entities are still live", left)
		}
		return nil
	}
	return &timedRun{plainRun{do, end}, &watch}, nil
}

// reach reads all entities in the order of their allocation.
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
