package workload

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/bench/measure"
	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// faulty returns a peer whose sessions spoil changes.
func faulty[R any](spoil func(*spoiled)) peer.Peer[R] {
	p := peer.Mutex[R]()
	open := p.Open
	p.Open = func(c peer.Config[R]) (peer.Store, error) {
		s, err := open(c)
		return faultyStore{s, spoil}, err
	}
	return p
}

type faultyStore struct {
	peer.Store
	spoil func(*spoiled)
}

func (s faultyStore) Session() peer.Session {
	sp := &spoiled{Session: s.Store.Session()}
	s.spoil(sp)
	return sp
}

func (s faultyStore) Len() int {
	var sp spoiled
	s.spoil(&sp)
	return s.Store.Len() + sp.left
}

// spoiled is a session with faults.
type spoiled struct {
	peer.Session
	wrong     uint64 // added to sums
	undropped bool   // a look-up or a removal of Empty fails
	left      int    // removed values that Len counts
	pairs     bool   // a removal of Pairs fails
	fill      bool   // Fill stores wrong identities
	keep      bool   // Empty leaves a value
	replace   bool   // Replace stores a wrong value
	mix       bool   // Mix stores wrong identities
	stale     bool   // Mix publishes a stale name
}

func (s *spoiled) Pairs(n int, id uint64) int {
	failed := s.Session.Pairs(n, id)
	if s.pairs {
		failed++
	}
	return failed
}

func (s *spoiled) Fill(ns peer.Names, id uint64) {
	if s.fill {
		id++
	}
	s.Session.Fill(ns, id)
}

func (s *spoiled) Empty(ns peer.Names) (uint64, int) {
	sum, failed := s.Session.Empty(ns)
	if s.keep {
		s.Session.Put(ns, 0, 7)
	}
	if s.undropped {
		failed++
	}
	return sum + s.wrong, failed
}

func (s *spoiled) Replace(ns peer.Names, picks []uint32, id uint64) int {
	failed := s.Session.Replace(ns, picks, id)
	if s.replace {
		i := int(picks[len(picks)-1])
		s.Session.Drop(ns, i)
		s.Session.Put(ns, i, 7)
	}
	return failed
}

func (s *spoiled) Read(ns peer.Names, picks []uint32) uint64 {
	return s.Session.Read(ns, picks) + s.wrong
}

func (s *spoiled) Mix(shared peer.Names, ops []uint32, id uint64) (uint64, int, int) {
	if s.mix {
		id++
	}
	sum, stale, failed := s.Session.Mix(shared, ops, id)
	if s.stale {
		s.Session.Drop(shared, int(ops[0]>>1))
	}
	return sum, stale, failed
}

// A contestant with a fault has no figures, and its run is an error; without the fault it
// passes.
func TestFaultyContestantsAreRefused(t *testing.T) {
	env := suite.Env{Quick: true, Procs: 2, Seed: 1}
	reads := rules{live: 100, goroutines: 2}
	orders := []*order{newOrder(1, 0, 100), newOrder(1, 1, 100)}
	for _, c := range []struct {
		name  string
		rules rules
		spoil func(*spoiled)
	}{
		{"a pair's removal is refused", pairs(2), func(s *spoiled) { s.pairs = true }},
		{"churn: another value in a place", replacing(100, 1, 1), func(s *spoiled) { s.replace = true }},
		{"churn: filled with other values", replacing(100, 1, 1), func(s *spoiled) { s.fill = true }},
		{"burst: other values", bursts(nil, 100, 2), func(s *spoiled) { s.fill = true }},
		{"burst: a removal is refused", bursts(nil, 100, 2), func(s *spoiled) { s.undropped = true }},
		{"burst: a value stays", bursts(nil, 100, 2), func(s *spoiled) { s.keep = true }},
		{"handoff: other values", handing(1, 2), func(s *spoiled) { s.fill = true }},
		{"handoff: a removal is refused", handing(1, 2), func(s *spoiled) { s.undropped = true }},
		{"handoff by 64: other values", handing(64, 2), func(s *spoiled) { s.fill = true }},
		{"handoff by 64: a value stays", handing(64, 2), func(s *spoiled) { s.keep = true }},
		{"read: another identity", reading(reads, "", orders), func(s *spoiled) { s.wrong = 1 }},
		{"read: filled with other values", reading(reads, "", orders), func(s *spoiled) { s.fill = true }},
		{"mix: values in others' places", mixing(50, 2, env), func(s *spoiled) { s.mix = true }},
		{"mix: a lost name", mixing(50, 2, env), func(s *spoiled) { s.stale = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(spoil func(*spoiled)) error {
				return measured(c.rules.caseOf("mutex", func() (suite.Run, error) { return enter(faulty[peer.Rest16](spoil), c.rules) }))
			}
			require.NoError(t, run(func(*spoiled) {}))
			require.Error(t, run(c.spoil))
		})
	}
}

func measured(c suite.Case) error {
	q := suite.Question{ID: "Q", Groups: func(suite.Env) []suite.Group { return []suite.Group{{Cases: []suite.Case{c}}} }}
	var out bytes.Buffer
	err := measure.Questions(context.Background(), &out, []suite.Question{q}, measure.Options{Quick: true})
	if err != nil && out.Len() > 0 {
		panic("a case that failed has figures")
	}
	return err
}

// The runs that are not contests find faults as well.
func TestFaultyStoresAreRefused(t *testing.T) {
	for name, fault := range map[string]func(*spoiled){
		"reads another value": func(s *spoiled) { s.wrong = 1 },
		"refuses a removal":   func(s *spoiled) { s.undropped = true },
		"keeps a value":       func(s *spoiled) { s.left = 1 },
	} {
		for what, open := range map[string]func() (suite.Run, error){
			"memory":    func() (suite.Run, error) { return openMemory(faulty[peer.Rest16](fault), 1_000), nil },
			"collector": func() (suite.Run, error) { return openCollector(faulty[peer.Rest16](fault), 1_000, peer.Rest16{}) },
		} {
			run, err := open()
			require.NoError(t, err)
			_, err = run.Do(1)
			if err == nil {
				err = run.Close()
			}
			require.Error(t, err, "%s of a store that %s", what, name)
		}
	}
}

func TestWrongLoopsAreRefused(t *testing.T) {
	p, err := loopPool(1_000, upTo(1_000)[:100])
	require.NoError(t, err)
	want := looped{n: 100, sum: 5050}
	_, err = loopRun(func() looped { return loopAll(p) }, want, nil).Do(1)
	require.NoError(t, err)
	for _, wrong := range []looped{{n: 99, sum: want.sum}, {n: 100, sum: want.sum + 1}} {
		_, err = loopRun(func() looped { return loopAll(p) }, wrong, nil).Do(1)
		require.Error(t, err)
	}
}
