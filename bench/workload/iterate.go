package workload

import (
	"fmt"
	"math/rand/v2"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/pool"
)

// iterate loops over all values. Figures are per live value, so where one slot in ten is live
// they include the skipping of nine vacant ones. The live slots are drawn at random, the same
// for all. The contestants may change during the loop, unlike the reference plain, a slot map
// without a lock. A slot map under a mutex would loop like that, and stop all others meanwhile.
// Loops over maps of a million are measured once, with all slots live: each takes a second.
func iterate() suite.Question {
	return suite.Question{
		ID:    "Iterate",
		Title: "Loop over all values",
		Charts: []suite.Chart{
			{Title: "Loop over all values, each slot live", Unit: "ns/op", Where: map[string]string{"live": "all"}},
			{Title: "Loop over all values, one slot in ten live", Unit: "ns/op", Where: map[string]string{"live": "tenth"}},
		},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, slots := range sizesOf(env, 10_000, 1_000_000) {
				for _, live := range []string{"all", "tenth"} {
					cases := loopCases(slots, live, peer.NameGuard, peer.NamePlain)
					maps := loopCases(slots, live, peer.NameSyncMap, peer.NameXsync)
					switch {
					case slots < big:
						groups = append(groups, suite.Group{Cases: append(cases, maps...)})
					case live == "all":
						groups = append(groups, suite.Group{Cases: cases}, suite.Group{Cases: maps, Once: true})
					default:
						groups = append(groups, suite.Group{Cases: cases})
					}
				}
			}
			return groups
		},
	}
}

// loopCases returns the loops of those peers over that many slots.
func loopCases(slots int, live string, names ...string) []suite.Case {
	params := []suite.Param{number("slots", slots), param("live", live)}
	keep := make([]bool, slots)
	for i, place := range rand.New(rand.NewPCG(1, 0)).Perm(slots) {
		keep[place] = live == "all" || i < slots/10
	}
	return casesOf(params, func(p peer.Peer[peer.Rest16]) suite.Run {
		if p.Name == peer.NameGuard {
			return loopRun(loopPool(keep), keep)
		}
		return loopRun(loopPeer(p, keep), keep)
	}, names...)
}

// loopPeer fills a peer's store with the values 1, 2, … and drops those that are not kept. It
// returns the loop over it. The store grows, so that it has no more vacant slots than it needs.
func loopPeer(p peer.Peer[peer.Rest16], keep []bool) (loop func() (n int, sum uint64)) {
	store := p.Open(peer.Config[peer.Rest16]{Live: len(keep), Sessions: 1, Grow: true})
	session := store.Session()
	names := session.Names(len(keep))
	session.Fill(names, 1)
	for i := range keep {
		if !keep[i] && !session.Drop(names, i) {
			panic(fmt.Sprintf("%s: live value %d could not be removed", p.Name, i+1))
		}
	}
	return store.All
}

// loopPool is loopPeer for the pool, outside generic code: there the compiler does not inline
// the loop's body.
func loopPool(keep []bool) (loop func() (n int, sum uint64)) {
	p := pool.Must(&pool.Options[loopValue]{Capacity: len(keep), Preallocate: true})
	for id := range uint64(len(keep)) {
		if _, err := p.Insert(loopValue{ID: id + 1}); err != nil {
			panic(err)
		}
	}
	p.DeleteFunc(func(_ pool.Handle[loopValue], v *loopValue) bool { return !keep[v.ID-1] })
	return func() (n int, sum uint64) {
		guard := p.Pin()
		defer guard.Unpin()
		for _, v := range guard.All() {
			n++
			sum += v.ID
		}
		return n, sum
	}
}

type loopValue = peer.Value[peer.Rest16]

// loopRun repeats a loop until it has yielded n values.
func loopRun(loop func() (int, uint64), keep []bool) suite.Run {
	live, want := 0, uint64(0)
	for i := range keep {
		if keep[i] {
			live++
			want += uint64(i) + 1
		}
	}
	return suite.Run{Do: func(n int) (did int, err error) {
		for did < n {
			got, sum := loop()
			if got != live || sum != want {
				return did, fmt.Errorf("the loop yielded %d values that add up to %d, not %d that add up to %d", got, sum, live, want)
			}
			did += got
		}
		return did, nil
	}}
}
