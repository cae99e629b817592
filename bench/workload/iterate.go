package workload

import (
	"fmt"
	"iter"
	"sync"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/pool"
)

// iterate asks what a loop over all values costs.
func iterate() suite.Question {
	return suite.Question{
		ID:    "Iterate",
		Title: "What does a loop over all values cost, full and one in ten live?",
		About: "16-byte values; figures are for each live value that the loop yields, so where one in ten lives the look at nine vacant slots is in them. " +
			"Which one in ten is drawn by lot, the same for all. seq2 is a hand-written iter.Seq2 over a slice of slots (a generation and a value) that skips vacant ones, slots the plain loop over that slice; " +
			"both are for one goroutine, while pool and the maps may be changed during the loop. Loops over maps of a million are measured once, by default only with all live.",
		Roles: rolesWith(map[string]suite.Role{
			"pool.All": suite.Ours, "pool.Pages": suite.Ours, "guard.All": suite.Ours,
			"seq2": suite.Reference, "slots": suite.Reference,
		}),
		Charts: []suite.Chart{
			{Title: "Loop over all values, every slot live", Unit: "ns/op", Where: map[string]string{"live": "all"}},
			{Title: "Loop over all values, one slot in ten live", Unit: "ns/op", Where: map[string]string{"live": "tenth"}},
		},
		Groups: func(env suite.Env) []suite.Group {
			var groups []suite.Group
			for _, slots := range iterateSizes(env) {
				for _, live := range []string{"all", "tenth"} {
					cases, maps := loopCases(env, slots, live)
					// A loop over a map of a million takes a second.
					switch once := slots > 100_000; {
					case !once:
						groups = append(groups, suite.Group{Cases: append(cases, maps...)})
					case live == "all" || env.Full:
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

func iterateSizes(env suite.Env) []int {
	if env.Quick {
		return []int{1_000, 10_000}
	}
	return []int{10_000, 1_000_000}
}

// loopValue is what iterate stores.
type loopValue = peer.Value[peer.Rest16]

// looped is what one loop saw.
type looped struct {
	n   int
	sum uint64
}

// loopCases are the loops over so many slots, and those over maps.
func loopCases(env suite.Env, slots int, live string) (cases, maps []suite.Case) {
	left := upTo(slots)
	if live == "tenth" {
		left = shuffled(slots, env.Seed)[:slots/10]
	}
	want := looped{n: len(left)}
	for _, i := range left {
		want.sum += uint64(i) + 1
	}
	full := &common[*pool.Pool[loopValue]]{create: func() (*pool.Pool[loopValue], error) { return loopPool(slots, left) }}
	plain := &common[slotSlice]{create: func() (slotSlice, error) { return loopSlots(slots, left), nil }}

	params := []suite.Param{number("slots", slots), param("live", live)}
	add := func(cases *[]suite.Case, impl string, goroutines int, open opened) {
		*cases = append(*cases, loopCase(suite.Case{Impl: impl, Params: params, Goroutines: goroutines}, want, open))
	}
	overPool := func(impl string, goroutines int, loop func(p *pool.Pool[loopValue]) looped) {
		add(&cases, impl, goroutines, func() (func() looped, func() error, error) {
			p, err := full.open()
			return func() looped { return loop(p) }, full.close, err
		})
	}
	overSlots := func(impl string, goroutines int, loop func(s slotSlice) looped) {
		add(&cases, impl, goroutines, func() (func() looped, func() error, error) {
			s, err := plain.open()
			return func() looped { return loop(s) }, plain.close, err
		})
	}
	overPool("pool.All", 1, loopAll)
	overPool("guard.All", 1, loopGuard)
	overPool("pool.Pages", 1, loopPages)
	overSlots("seq2", 1, loopSeq2)
	overSlots("slots", 1, func(s slotSlice) looped { return s.loop() })
	if env.Procs > 1 {
		overPool("pool.Pages", env.Procs, func(p *pool.Pool[loopValue]) looped { return loopPagesShared(p, env.Procs) })
		overSlots("slots", env.Procs, func(s slotSlice) looped { return s.loopShared(env.Procs) })
	}
	for _, p := range peersOf[peer.Rest16](peer.NameSyncMap, peer.NameXsync) {
		add(&maps, p.Name, 1, func() (func() looped, func() error, error) { return loopPeer(p, slots, left) })
	}
	return cases, maps
}

// opened returns a loop, and what ends it.
type opened = func() (loop func() looped, end func() error, err error)

// loopCase is a case that loops.
func loopCase(c suite.Case, want looped, open opened) suite.Case {
	c.Open = func() (suite.Run, error) {
		loop, end, err := open()
		if err != nil {
			return nil, err
		}
		return loopRun(loop, want, end), nil
	}
	return c
}

// loopRun does loops until n values were yielded.
func loopRun(loop func() looped, want looped, end func() error) suite.Run {
	return &plainRun{end: end, do: func(n int) (did int, err error) {
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

// loopPool makes a pool of values 1 … slots, of which those that left names, from
// zero, are left.
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

// loopPeer opens a peer's store with the same values.
func loopPeer(p peer.Peer[peer.Rest16], slots int, left []uint32) (func() looped, func() error, error) {
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
			return nil, nil, fmt.Errorf("%s: value %d was gone before it was removed", p.Name, i+1)
		}
	}
	loop := func() looped {
		n, sum := store.All()
		return looped{n, sum}
	}
	end := func() error {
		session.Close()
		store.Close()
		return nil
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

// loopPagesShared deals the pages out to goroutines in turn.
func loopPagesShared(p *pool.Pool[loopValue], goroutines int) looped {
	guard := p.Pin()
	defer guard.Unpin()
	return together(goroutines, func(g int) (l looped) {
		for number, page := range guard.Pages() {
			if number%goroutines != g {
				continue
			}
			for _, v := range page {
				l.n++
				l.sum += v.ID
			}
		}
		return
	})
}

// slotSlice is the least that skips vacant slots: odd generations are live.
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

// all is the loop that one writes by hand.
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

func (s slotSlice) loop() (l looped) {
	for i := range s {
		if s[i].generation&1 != 0 {
			l.n++
			l.sum += s[i].value.ID
		}
	}
	return
}

func (s slotSlice) loopShared(goroutines int) looped {
	return together(goroutines, func(g int) looped {
		return s[g*len(s)/goroutines : (g+1)*len(s)/goroutines].loop()
	})
}

// together adds up what each of so many goroutines saw.
func together(goroutines int, part func(g int) looped) (all looped) {
	parts := make([]looped, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			parts[g] = part(g)
		}()
	}
	wg.Wait()
	for _, l := range parts {
		all.n += l.n
		all.sum += l.sum
	}
	return all
}
