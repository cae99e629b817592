package workload

import (
	"fmt"
	"iter"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/pool"
)

func iterate() suite.Question {
	return suite.Question{
		ID:    "Iterate",
		Title: "What does a loop over all values cost, full and one in ten live?",
		About: "16-byte values. Figures are per live value, so where one slot in ten is live they include the skipping of nine vacant ones. " +
			"The live slots are drawn at random, the same for all. seq2 is a hand-written iter.Seq2 over a slice of slots, each a generation and a value, that skips vacant ones; slots is the plain loop over that slice. " +
			"Both are for one goroutine, while the pool and the maps may change during the loop. Loops over maps of a million are measured once, with all slots live.",
		Roles: rolesWith(map[string]suite.Role{
			"pool.All": suite.Ours, "pool.Pages": suite.Ours, "guard.All": suite.Ours,
			"seq2": suite.Reference, "slots": suite.Reference,
		}),
		Charts: []suite.Chart{
			{Title: "Loop over all values, every slot live", Unit: "ns/op", Where: map[string]string{"live": "all"}},
			{Title: "Loop over all values, one slot in ten live", Unit: "ns/op", Where: map[string]string{"live": "tenth"}},
		},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, slots := range sizesOf(env, 10_000, 1_000_000) {
				for _, live := range []string{"all", "tenth"} {
					cases, maps := loopCases(env, slots, live)
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
func loopCases(env suite.Env, slots int, live string) (cases, maps []suite.Case) {
	left := upTo(slots)
	if live == "tenth" {
		left = shuffled(slots, env.Seed)[:slots/10]
	}
	want := looped{n: len(left)}
	for _, i := range left {
		want.sum += uint64(i) + 1
	}
	caseOf := func(impl string, open func() (loop func() looped, end func(), err error)) suite.Case {
		params := []suite.Param{number("slots", slots), param("live", live)}
		return suite.Case{Impl: impl, Params: params, Open: func() (suite.Run, error) {
			loop, end, err := open()
			return loopRun(loop, want, end), err
		}}
	}
	overPool := func(impl string, loop func(*pool.Pool[loopValue]) looped) {
		cases = append(cases, caseOf(impl, func() (func() looped, func(), error) {
			p, err := loopPool(slots, left)
			return func() looped { return loop(p) }, nil, err
		}))
	}
	overSlots := func(impl string, loop func(slotSlice) looped) {
		cases = append(cases, caseOf(impl, func() (func() looped, func(), error) {
			s := loopSlots(slots, left)
			return func() looped { return loop(s) }, nil, nil
		}))
	}
	overPool("pool.All", loopAll)
	overPool("guard.All", loopGuard)
	overPool("pool.Pages", loopPages)
	overSlots("seq2", loopSeq2)
	overSlots("slots", loopPlain)
	for _, p := range peersOf[peer.Rest16](peer.NameSyncMap, peer.NameXsync) {
		maps = append(maps, caseOf(p.Name, func() (func() looped, func(), error) { return loopPeer(p, slots, left) }))
	}
	return cases, maps
}

// loopRun repeats a loop until it has yielded n values.
func loopRun(loop func() looped, want looped, end func()) suite.Run {
	return &plainRun{do: func(n int) (did int, err error) {
		for did < n {
			got := loop()
			if got != want {
				return did, fmt.Errorf("the loop yielded %d values that add up to %d, not %d that add up to %d", got.n, got.sum, want.n, want.sum)
			}
			did += got.n
		}
		return did, nil
	}, end: func() error {
		if end != nil {
			end()
		}
		return nil
	}}
}

// loopPool returns a pool of the values 1 … slots, without those whose index is not in
// left.
func loopPool(slots int, left []uint32) (*pool.Pool[loopValue], error) {
	p, err := pool.New(&pool.Options[loopValue]{Capacity: slots, Preallocate: true})
	if err != nil {
		return nil, err
	}
	keep := make(map[uint64]bool, len(left))
	for _, i := range left {
		keep[uint64(i)+1] = true
	}
	for id := range uint64(slots) {
		if _, err := p.Insert(loopValue{ID: id + 1}); err != nil {
			return nil, err
		}
	}
	p.DeleteFunc(func(_ pool.Handle[loopValue], v *loopValue) bool { return !keep[v.ID] })
	return p, nil
}

// loopPeer fills a peer's store with the same values.
func loopPeer(p peer.Peer[peer.Rest16], slots int, left []uint32) (loop func() looped, end func(), err error) {
	store, err := p.Open(peer.Config[peer.Rest16]{Live: slots, Sessions: 1})
	if err != nil {
		return nil, nil, err
	}
	session := store.Session()
	names := session.Names(slots)
	session.Fill(names, 1)
	keep := make([]bool, slots)
	for _, i := range left {
		keep[i] = true
	}
	for i := range keep {
		if !keep[i] && !session.Drop(names, i) {
			return nil, nil, fmt.Errorf("%s: live value %d could not be removed", p.Name, i+1)
		}
	}
	loop = func() looped {
		n, sum := store.All()
		return looped{n, sum}
	}
	end = func() {
		session.Close()
		store.Close()
	}
	return loop, end, nil
}

func loopAll(p *pool.Pool[loopValue]) (l looped) {
	for _, v := range p.All() {
		l.n++
		l.sum += v.ID
	}
	return
}

func loopGuard(p *pool.Pool[loopValue]) (l looped) {
	guard := p.Pin()
	defer guard.Unpin()
	for _, v := range guard.All() {
		l.n++
		l.sum += v.ID
	}
	return
}

func loopPages(p *pool.Pool[loopValue]) (l looped) {
	guard := p.Pin()
	defer guard.Unpin()
	for _, page := range guard.Pages() {
		for _, v := range page {
			l.n++
			l.sum += v.ID
		}
	}
	return
}

// slotSlice is the simplest store that has vacant slots; odd generations are live.
type slotSlice []loopSlot

type loopSlot struct {
	generation uint32
	value      loopValue
}

func loopSlots(slots int, left []uint32) slotSlice {
	s := make(slotSlice, slots)
	for _, i := range left {
		s[i] = loopSlot{generation: 1, value: loopValue{ID: uint64(i) + 1}}
	}
	return s
}

func (s slotSlice) all() iter.Seq2[int, *loopValue] {
	return func(yield func(int, *loopValue) bool) {
		for i := range s {
			if s[i].generation&1 != 0 && !yield(i, &s[i].value) {
				return
			}
		}
	}
}

func loopSeq2(s slotSlice) (l looped) {
	for _, v := range s.all() {
		l.n++
		l.sum += v.ID
	}
	return
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
