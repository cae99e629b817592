package peer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/bench/suite"
	"coatcheck/internal/check/testkit"
)

func probeTries() int {
	if testing.Short() || testkit.Race {
		return 1 << 10
	}
	return Tries
}

// The findings are the peers' own. These are the ones that the documents of the
// peers promise, so that a change of either is noticed.
func TestProbeFindsWhatPeersPromise(t *testing.T) {
	type row struct{ stale, double, late, other bool }
	safe, missing := row{true, true, true, true}, row{}
	// Every slot map of this kind begins with the same generations.
	slots := row{true, true, true, false}
	want := map[string]row{
		NamePool: safe, NameFIFO: safe, NameWorker: safe, NameSyncMap: safe, NameXsync: safe, NameOrcaman: safe,
		NameMutex: slots, NameRWMutex: slots, NamePlain: slots, NameArk: slots,
		NameSyncPool: missing, NameNew: missing, NameChannel: missing, NameSlice: missing,
	}
	for _, p := range All[Rest16]() {
		t.Run("impl="+p.Name, func(t *testing.T) {
			if p.Name == NameSyncPool && testkit.Race {
				t.Skip("under the race detector it drops what it is given, now and then")
			}
			f, err := Probe(p, probeTries())
			require.NoError(t, err)
			w, ok := want[p.Name]
			require.True(t, ok, "no row for this peer")
			t.Logf("%v", f.Figures())
			assert.Equal(t, w, row{f.Stale, f.Double, f.Late, f.Other})
			// The report sets those that catch beside ours, and no others.
			if !f.Catches() {
				assert.Equal(t, suite.Reference, p.Role)
			}
		})
	}
}

// A probe that finds nothing is worth something only if it finds what is there: a
// slot map whose generations have 8 bits, one whose removals forget to look at
// them, one that loses what it is given.
func TestProbeFindsWhatIsWrong(t *testing.T) {
	faulty := func(change func(*faultySession)) Peer[Rest16] {
		return Peer[Rest16]{
			About: About{Name: "faulty"},
			Open: func(c Config[Rest16]) (Store, error) {
				s, err := Plain[Rest16]().Open(c)
				return &faultyStore{s, change}, err
			},
		}
	}
	t.Run("generations wrap", func(t *testing.T) {
		f, err := Probe(faulty(func(s *faultySession) { s.mask = 0xff_ffff_ffff }), 1000)
		require.NoError(t, err)
		require.True(t, f.Stale)
		require.False(t, f.Reused)
		require.Equal(t, 128, f.Revive)
		f, err = Probe(faulty(func(s *faultySession) { s.mask = 0xff_ffff_ffff }), 127)
		require.NoError(t, err)
		require.Zero(t, f.Revive)
	})
	t.Run("a removal takes another's value", func(t *testing.T) {
		f, err := Probe(faulty(func(s *faultySession) { s.blind = true }), 10)
		require.NoError(t, err)
		require.True(t, f.Double)
		require.False(t, f.Late)
	})
	t.Run("it loses what it is given", func(t *testing.T) {
		_, err := Probe(faulty(func(s *faultySession) { s.deaf = true }), 10)
		require.ErrorContains(t, err, "probing faulty: a live value is looked up")
	})
	t.Run("it panics", func(t *testing.T) {
		f, err := Probe(faulty(func(s *faultySession) { s.loud = true }), 10)
		require.NoError(t, err)
		require.True(t, f.Stale)
		require.True(t, f.Double)
	})
}

type faultyStore struct {
	Store
	change func(*faultySession)
}

func (s *faultyStore) Session() Session {
	f := &faultySession{plainSession: s.Store.Session().(*plainSession[Rest16]), mask: 1<<64 - 1}
	s.change(f)
	return f
}

// faultySession is a plain slot map with faults.
type faultySession struct {
	*plainSession[Rest16]
	mask              uint64 // of the bits of names that are looked at
	blind, deaf, loud bool
}

// find returns the name in place i as the slot has it now, if the bits that are
// looked at agree.
func (s *faultySession) find(ns Names, i int) uint64 {
	n := of[uint64](ns)[i]
	now := uint64(s.values.slots[uint32(n)].generation)<<32 | uint64(uint32(n))
	if now&s.mask == n&s.mask {
		return now
	}
	return n
}

func (s *faultySession) Look(ns Names, i int) (uint64, bool) {
	id, ok := idOf(s.values.get(s.find(ns, i)))
	if s.loud && !ok {
		panic("faulty: stale")
	}
	return id, ok && !s.deaf
}

func (s *faultySession) Drop(ns Names, i int) bool {
	n := s.find(ns, i)
	if s.loud && s.values.get(n) == nil {
		panic("faulty: stale")
	}
	if generation := s.values.slots[uint32(n)].generation; s.blind && generation%2 == 1 && generation != uint32(n>>32) {
		s.values.remove(uint64(generation)<<32 | uint64(uint32(n)))
		return false
	}
	return s.values.remove(n)
}
