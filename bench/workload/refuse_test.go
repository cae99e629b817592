package workload

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/bench/measure"
	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/check/turns"
)

// broken is a peer that is right but for what spoil does to it.
func broken(spoil func(*spoiled)) peer.Peer[peer.Rest16] {
	p := peer.Mutex[peer.Rest16]()
	open := p.Open
	p.Open = func(c peer.Config[peer.Rest16]) (peer.Store, error) {
		s, err := open(c)
		return brokenStore{s, spoil}, err
	}
	return p
}

type brokenStore struct {
	peer.Store
	spoil func(*spoiled)
}

func (s brokenStore) Session() peer.Session {
	sp := &spoiled{Session: s.Store.Session()}
	s.spoil(sp)
	return sp
}

// spoiled is a session that lies where it is told to.
type spoiled struct {
	peer.Session
	pairs, fill, empty, replace, lose, sum, stale, mix bool
}

func (s *spoiled) Pairs(n int, id uint64) int {
	failed := s.Session.Pairs(n, id)
	if s.pairs {
		failed++
	}
	return failed
}

// Fill stores values with the wrong identities.
func (s *spoiled) Fill(ns peer.Names, id uint64) {
	if s.fill {
		id++
	}
	s.Session.Fill(ns, id)
}

// Empty leaves a value.
func (s *spoiled) Empty(ns peer.Names) (uint64, int) {
	sum, failed := s.Session.Empty(ns)
	if s.lose {
		s.Session.Put(ns, 0, 7)
	}
	if s.empty {
		failed++
	}
	return sum, failed
}

// Replace stores the wrong value in the place of the last pick.
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
	sum := s.Session.Read(ns, picks)
	if s.sum {
		sum++
	}
	return sum
}

func (s *spoiled) Publish(ns peer.Names, shared []atomic.Uint64) {
	s.Session.(peer.Mixer).Publish(ns, shared)
}

func (s *spoiled) Mix(shared []atomic.Uint64, ops []uint32, id uint64) (uint64, int, int) {
	if s.mix {
		id++ // each value is stored under the next one's identity
	}
	sum, stale, failed := s.Session.(peer.Mixer).Mix(shared, ops, id)
	if s.stale {
		// A name that names nothing stays where it is.
		shared[ops[0]>>1].Store(0)
	}
	return sum, stale, failed
}

// A contestant that answers wrongly has no figures, and its run is an error; the
// same contestant without a lie passes. So each check is known to be one.
func TestWrongContestantsAreRefused(t *testing.T) {
	env := suite.Env{Quick: true, Procs: 2, Seed: 1}
	plan := func(p peer.Peer[peer.Rest16], live, goroutines int, work func(peer.Session, int) (job, error)) suite.Case {
		return suite.Case{Impl: p.Name, Goroutines: goroutines, Open: func() (suite.Run, error) {
			return enter(p, live, goroutines, func(sessions []peer.Session) (job, error) { return work(sessions[0], live) })
		}}
	}
	pairs := func(p peer.Peer[peer.Rest16]) suite.Case { return pairCase(p, nil, 2) }
	churns := func(p peer.Peer[peer.Rest16]) suite.Case {
		return plan(p, 100, 1, func(s peer.Session, live int) (job, error) {
			return replacing([]peer.Session{s}, live, env.Seed, func(r *replacer) turns.Work { return r.work })
		})
	}
	bursting := func(p peer.Peer[peer.Rest16]) suite.Case { return burstCase(p, nil, 100, 2) }
	handing := func(batch int) func(peer.Peer[peer.Rest16]) suite.Case {
		return func(p peer.Peer[peer.Rest16]) suite.Case { return handoffCase(p, nil, batch, 2) }
	}
	reads := func(p peer.Peer[peer.Rest16]) suite.Case {
		orders := []*order{{seed: 1, live: 100}, {seed: 1, session: 1, live: 100}}
		return readCase(p, way{read: func(s peer.Session) func(peer.Names, []uint32) uint64 { return s.Read }}, nil, 100, orders)
	}
	mixes := func(p peer.Peer[peer.Rest16]) suite.Case { return mixCase(p, nil, 50, 2, env) }
	for _, c := range []struct {
		name  string
		of    func(peer.Peer[peer.Rest16]) suite.Case
		spoil func(*spoiled)
	}{
		{"a pair's removal is refused", pairs, func(s *spoiled) { s.pairs = true }},
		{"churn: another value in a place", churns, func(s *spoiled) { s.replace = true }},
		{"churn: filled with other values", churns, func(s *spoiled) { s.fill = true }},
		{"burst: other values", bursting, func(s *spoiled) { s.fill = true }},
		{"burst: a removal is refused", bursting, func(s *spoiled) { s.empty = true }},
		{"burst: a value stays", bursting, func(s *spoiled) { s.lose = true }},
		{"handoff: other values", handing(1), func(s *spoiled) { s.fill = true }},
		{"handoff: a removal is refused", handing(1), func(s *spoiled) { s.empty = true }},
		{"handoff by 64: other values", handing(64), func(s *spoiled) { s.fill = true }},
		{"handoff by 64: a value stays", handing(64), func(s *spoiled) { s.lose = true }},
		{"read: another identity", reads, func(s *spoiled) { s.sum = true }},
		{"read: filled with other values", reads, func(s *spoiled) { s.fill = true }},
		{"mix: values in others' places", mixes, func(s *spoiled) { s.mix = true }},
		{"mix: a lost name", mixes, func(s *spoiled) { s.stale = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, measured(c.of(broken(func(*spoiled) {}))))
			require.Error(t, measured(c.of(broken(c.spoil))))
		})
	}
}

// measured measures a case.
func measured(c suite.Case) error {
	q := suite.Question{ID: "Q", Groups: func(suite.Env) []suite.Group { return []suite.Group{{Cases: []suite.Case{c}}} }}
	var out bytes.Buffer
	err := measure.Questions(context.Background(), &out, []suite.Question{q}, measure.Options{Quick: true})
	if err != nil && out.Len() > 0 {
		panic("a case that failed has figures")
	}
	return err
}
