package workload

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// faulty returns a peer whose sessions and stores have a fault.
func faulty[R any](fault string) peer.Peer[R] {
	all := peer.All[R]()
	p := all[slices.IndexFunc(all, func(p peer.Peer[R]) bool { return p.Name == peer.NameMutex })]
	open := p.Open
	p.Open = func(c peer.Config[R]) peer.Store {
		s := open(c)
		session, all := s.Session, s.All
		s.Session = func() peer.Session { return &spoiled{session(), fault} }
		s.All = func() (int, uint64) {
			n, sum := all()
			return n + (&spoiled{fault: fault}).has("Len counts too many"), sum
		}
		return s
	}
	return p
}

// spoiled is a session with a fault.
type spoiled struct {
	peer.Session
	fault string
}

// has returns 1 if the session has that fault.
func (s *spoiled) has(fault string) int {
	if s.fault == fault {
		return 1
	}
	return 0
}

func (s *spoiled) Pairs(n int, id uint64) int {
	return s.Session.Pairs(n, id) + s.has("Pairs fails once")
}

func (s *spoiled) Fill(ns peer.Names, id uint64) {
	s.Session.Fill(ns, id+uint64(s.has("Fill stores wrong identities")))
}

func (s *spoiled) Empty(ns peer.Names) (uint64, int) {
	sum, failed := s.Session.Empty(ns)
	if s.has("Empty leaves a value") > 0 {
		s.Session.Put(ns, 0, 7)
	}
	return sum + uint64(s.has("sums are wrong")), failed + s.has("Empty fails once")
}

func (s *spoiled) Replace(ns peer.Names, picks []uint32, id uint64) int {
	failed := s.Session.Replace(ns, picks, id)
	if s.has("Replace stores a wrong value") > 0 {
		i := int(picks[len(picks)-1])
		s.Session.Drop(ns, i)
		s.Session.Put(ns, i, 7)
	}
	return failed
}

func (s *spoiled) Read(ns peer.Names, picks []uint32) uint64 {
	return s.Session.Read(ns, picks) + uint64(s.has("sums are wrong"))
}

func (s *spoiled) Mix(shared peer.Names, ops []uint32, id uint64) int {
	failed := s.Session.Mix(shared, ops, id+uint64(s.has("Mix stores wrong identities")))
	if s.has("Mix publishes a stale name") > 0 {
		s.Session.Drop(shared, int(ops[0]>>1))
	}
	return failed
}

// The checks of a run find each fault of a store, and none in a store without.
func TestFaultyContestantsAreRefused(t *testing.T) {
	type store = peer.Peer[peer.Rest16]
	contest := func(r rules) func(store) suite.Run {
		return func(p store) suite.Run { return enter(p, r) }
	}
	keep := append(make([]bool, 100), true)
	for _, c := range []struct {
		name   string
		open   func(store) suite.Run
		faults []string
	}{
		{"pair", contest(pairs(2)), []string{"Pairs fails once"}},
		{"churn", contest(replacing(100, 1)), []string{"Replace stores a wrong value", "Fill stores wrong identities"}},
		{"burst", contest(bursts(nil, 100, 2)), []string{"Fill stores wrong identities", "Empty fails once", "Empty leaves a value"}},
		{"handoff", contest(handing(1, 2)), []string{"Fill stores wrong identities", "Empty fails once"}},
		{"handoff by 64", contest(handing(64, 2)), []string{"Fill stores wrong identities", "Empty leaves a value"}},
		{"read", contest(reads(100, 2)), []string{"sums are wrong", "Fill stores wrong identities"}},
		{"mix", contest(mixing(50, 2, suite.Env{Quick: true})), []string{"Mix stores wrong identities", "Mix publishes a stale name"}},
		{"memory", func(p store) suite.Run { return openMemory(p, 1_000) }, []string{"Fill stores wrong identities", "Len counts too many"}},
		{"collector", func(p store) suite.Run { return openCollector(p, 1_000) }, []string{"Fill stores wrong identities", "Len counts too many"}},
		{"loop", func(p store) suite.Run { return loopRun(loopPeer(p, keep), keep) }, []string{"Fill stores wrong identities", "Len counts too many"}},
	} {
		for _, fault := range append(c.faults, "") {
			t.Run(c.name+": "+fault, func(t *testing.T) {
				run := c.open(faulty[peer.Rest16](fault))
				_, err := run.Do(256)
				if run.Close != nil {
					err = errors.Join(err, run.Close())
				}
				require.Equal(t, fault != "", err != nil, "%v", err)
			})
		}
	}
}
