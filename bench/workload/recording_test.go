package workload

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

func TestRecordingIsOfJobs(t *testing.T) {
	rec, err := loadJobs()
	require.NoError(t, err)
	require.Equal(t, 4, rec.workers)
	require.Greater(t, rec.nodes, 1_000)
	require.Greater(t, rec.ops, 4*rec.nodes)
	require.Less(t, rec.peak, rec.nodes/2)

	began, elsewhere := make([]int, rec.nodes), 0
	for _, e := range rec.entries {
		switch e.verb {
		case '+':
			began[e.nodes[0]] = e.worker
		case '-':
			if began[e.nodes[0]] != e.worker {
				elsewhere++
			}
		}
	}
	require.Greater(t, elsewhere, rec.nodes/2)
}

func TestRecordingRefuses(t *testing.T) {
	const good = "# a remark\n0 + 0\n1 + 1\n1 ? 1 0 1\n0 - 1\n1 - 0\n"
	rec, err := readRecording(strings.NewReader(good))
	require.NoError(t, err)
	require.Equal(t, 7, rec.ops)
	require.Equal(t, 2, rec.peak)
	require.EqualValues(t, 2+1+2+2+1, rec.idSum)

	for name, text := range map[string]string{
		"nothing":            "# a remark\n",
		"no entry":           good + "0 +\n",
		"no verb":            good + "0 ! 2\n",
		"no worker":          good + "x + 2\n0 - 2\n",
		"no node":            good + "0 + y\n",
		"two insertions":     "0 + 0 1\n0 - 0\n0 - 1\n",
		"inserted twice":     "0 + 0\n0 + 0\n0 - 0\n",
		"out of turn":        "0 + 1\n0 - 1\n",
		"looked up too soon": "0 ? 0\n0 + 0\n0 - 0\n",
		"looked up too late": good + "0 ? 0\n",
		"removed twice":      good + "0 - 0\n",
		"left":               good + "0 + 2\n",
	} {
		_, err := readRecording(strings.NewReader(text))
		require.Error(t, err, name)
	}
}

// faults are what a store may do wrong.
var faults = map[string]func(*faulty){
	"reads another value":   func(f *faulty) { f.wrong = 1 },
	"has lost a value":      func(f *faulty) { f.lost = true },
	"removes only one time": func(f *faulty) { f.undropped = true },
	"keeps what it removed": func(f *faulty) { f.left = 1 },
}

// faulty is a pool's store that does something wrong once in a while.
type faulty struct {
	peer.Store
	wrong     uint64
	lost      bool
	undropped bool
	left      int
}

func (f *faulty) Len() int              { return f.Store.Len() + f.left }
func (f *faulty) Session() peer.Session { return &faultySession{Session: f.Store.Session(), faulty: f} }

type faultySession struct {
	peer.Session
	*faulty
	looks int
}

func (s *faultySession) Close() { s.Session.Close() }

func (s *faultySession) rare() bool { s.looks++; return s.looks%100 == 0 }

func (s *faultySession) Look(ns peer.Names, i int) (uint64, bool) {
	id, ok := s.Session.Look(ns, i)
	if s.rare() {
		return id + s.wrong, ok && !s.lost
	}
	return id, ok
}

func (s *faultySession) Drop(ns peer.Names, i int) bool {
	ok := s.Session.Drop(ns, i)
	return ok && !(s.undropped && s.rare())
}

func (s *faultySession) Read(ns peer.Names, picks []uint32) uint64 {
	return s.Session.Read(ns, picks) + s.wrong
}

func (s *faultySession) Empty(ns peer.Names) (uint64, int) {
	sum, failed := s.Session.Empty(ns)
	if s.lost || s.undropped {
		failed++
	}
	return sum + s.wrong, failed
}

// faultyPool is a pool with a fault.
func faultyPool[R any](fault func(*faulty)) peer.Peer[R] {
	p := peersOf[R](peer.NamePool)[0]
	open := p.Open
	p.Open = func(c peer.Config[R]) (peer.Store, error) {
		store, err := open(c)
		f := &faulty{Store: store}
		fault(f)
		return f, err
	}
	return p
}

// A run over a store that does something wrong must say so.
func TestWrongStoresAreFound(t *testing.T) {
	for name, fault := range faults {
		for what, open := range map[string]func() (suite.Run, error){
			"growing":   func() (suite.Run, error) { return allocateGrowing(faultyPool[entityRest](fault)) },
			"ready":     func() (suite.Run, error) { return allocateReady(faultyPool[entityRest](fault)) },
			"reach":     func() (suite.Run, error) { return reach(faultyPool[entityRest](fault), "handle") },
			"replay":    func() (suite.Run, error) { return openReplay(faultyPool[peer.Rest64](fault)) },
			"replays":   func() (suite.Run, error) { return openReplays(faultyPool[peer.Rest64](fault)) },
			"memory":    func() (suite.Run, error) { return openMemory(faultyPool[peer.Rest16](fault), 1_000), nil },
			"collector": func() (suite.Run, error) { return openCollector(faultyPool[peer.Rest16](fault), 1_000, peer.Rest16{}) },
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

func TestLoopsAreJudged(t *testing.T) {
	p, err := loopPool(1_000, upTo(1_000)[:100])
	require.NoError(t, err)
	want := looped{n: 100, sum: sumTo(100)}
	_, err = loopRun(func() looped { return loopAll(p) }, want, nil).Do(1)
	require.NoError(t, err)
	for _, wrong := range []looped{{n: 99, sum: want.sum}, {n: 100, sum: want.sum + 1}} {
		_, err = loopRun(func() looped { return loopAll(p) }, wrong, nil).Do(1)
		require.Error(t, err)
	}
}
