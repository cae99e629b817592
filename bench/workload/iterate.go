package workload

import (
	"fmt"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/pool"
)

func iterate() suite.Question {
	return suite.Question{
		ID:    "Iterate",
		Title: "What does a loop over all values cost, full and one in ten live?",
		About: "16-byte values. Figures are per live value, so where one slot in ten is live they include the skipping of nine vacant ones. " +
			"The live slots are drawn at random, the same for all. slots is the plain loop over a slice of slots, each a generation and a value, that skips vacant ones. " +
			"It is for one goroutine, while the pool and the maps may change during the loop. Loops over maps of a million are measured once, with all slots live.",
		Charts: []suite.Chart{
			{Title: "Loop over all values, every slot live", Unit: "ns/op", Where: map[string]string{"live": "all"}},
			{Title: "Loop over all values, one slot in ten live", Unit: "ns/op", Where: map[string]string{"live": "tenth"}},
		},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, slots := range sizesOf(env, 10_000, 1_000_000) {
				for _, live := range []string{"all", "tenth"} {
					cases, maps := loopCases(slots, live)
					if slots < big {
						groups = append(groups, suite.Group{Cases: append(cases, maps...)})
						continue
					}
					groups = append(groups, suite.Group{Cases: cases})
					if live == "all" {
						groups = append(groups, suite.Group{Cases: maps, Once: true}) // a loop takes a second
					}
				}
			}
			return groups
		},
	}
}

// loopValue is the value that iterate stores.
type loopValue = peer.Value[peer.Rest16]

// looped is the count and the sum of the values that a loop yielded.
type looped struct {
	n   int
	sum uint64
}

// loopCases returns the loops over that many slots, and those over maps.
func loopCases(slots int, live string) (cases, maps []suite.Case) {
	left := upTo(slots)
	if live == "tenth" {
		left = shuffled(slots)[:slots/10]
	}
	keep := make([]bool, slots)
	want := looped{n: len(left)}
	for _, i := range left {
		keep[i] = true
		want.sum += uint64(i) + 1
	}
	caseOf := func(impl string, open func() (loop func() looped)) suite.Case {
		params := []suite.Param{number("slots", slots), param("live", live)}
		return suite.Case{Impl: impl, Params: params, Open: func() suite.Run { return loopRun(open(), want) }}
	}
	for _, p := range peersOf[peer.Rest16](peer.NameSyncMap, peer.NameXsync) {
		maps = append(maps, caseOf(p.Name, func() func() looped { return loopPeer(p, keep) }))
	}
	return []suite.Case{
		caseOf("guard.All", func() func() looped {
			p := loopPool(keep)
			return func() looped { return loopAll(p) }
		}),
		caseOf("slots", func() func() looped {
			s := loopSlots(keep)
			return func() looped { return loopPlain(s) }
		}),
	}, maps
}

// loopRun repeats a loop until it has yielded n values.
func loopRun(loop func() looped, want looped) suite.Run {
	return &plainRun{do: func(n int) (did int, err error) {
		for did < n {
			got := loop()
			if got != want {
				return did, fmt.Errorf("the loop yielded %d values that add up to %d, not %d that add up to %d", got.n, got.sum, want.n, want.sum)
			}
			did += got.n
		}
		return did, nil
	}}
}

// loopPool returns a pool in which slot i had the value i+1, and has it still where keep[i]
// is true.
func loopPool(keep []bool) *pool.Pool[loopValue] {
	p := pool.Must(&pool.Options[loopValue]{Capacity: len(keep), Preallocate: true})
	for id := range uint64(len(keep)) {
		must(p.Insert(loopValue{ID: id + 1}))
	}
	p.DeleteFunc(func(_ pool.Handle[loopValue], v *loopValue) bool { return !keep[v.ID-1] })
	return p
}

// loopPeer fills a peer's store with the same values, and returns a loop over it.
func loopPeer(p peer.Peer[peer.Rest16], keep []bool) (loop func() looped) {
	store := p.Open(peer.Config[peer.Rest16]{Live: len(keep), Sessions: 1})
	session := store.Session()
	names := session.Names(len(keep))
	session.Fill(names, 1)
	for i := range keep {
		if !keep[i] && !session.Drop(names, i) {
			panic(fmt.Sprintf("%s: live value %d could not be removed", p.Name, i+1))
		}
	}
	return func() looped {
		n, sum := store.All()
		return looped{n, sum}
	}
}

func loopAll(p *pool.Pool[loopValue]) (l looped) {
	guard := p.Pin()
	defer guard.Unpin()
	for _, v := range guard.All() {
		l.n++
		l.sum += v.ID
	}
	return
}

// slotSlice is the simplest store that has vacant slots; odd generations are live.
type slotSlice []loopSlot

type loopSlot struct {
	generation uint32
	value      loopValue
}

func loopSlots(keep []bool) slotSlice {
	s := make(slotSlice, len(keep))
	for i := range keep {
		if keep[i] {
			s[i] = loopSlot{generation: 1, value: loopValue{ID: uint64(i) + 1}}
		}
	}
	return s
}

func loopPlain(s slotSlice) (l looped) {
	for i := range s {
		if s[i].generation&1 != 0 {
			l.n++
			l.sum += s[i].value.ID
		}
	}
	return
}
