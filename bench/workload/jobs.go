package workload

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// jobsMix asks what a real program's operations cost.
func jobsMix() suite.Question {
	return suite.Question{
		ID:    "Jobs",
		Title: "What does the mix of a real job system cost?",
		About: "The operations of examples/jobs, recorded while four workers type-checked the standard library (2,034 jobs, some 470 live at most, nine in ten removed by another worker than inserted them), are replayed. " +
			"A removal that hands the value over is a look-up and a removal here, since not everybody has one verb for both; look-ups of one pin are made under one guard where there are guards. Values have 64 bytes, and each operation is a call through an interface, for all alike. " +
			"With one goroutine the four workers' sessions take turns in the recorded order, on one graph of jobs. With four, each replays what its worker did, on 32 graphs at once, and hands a graph on when the next operation in it is another's: the recorded order holds, and nobody waits for long. " +
			"nothing is the same with no store: what the loops and the handing over cost.",
		Roles: rolesWith(map[string]suite.Role{"nothing": suite.Control}),
		Charts: []suite.Chart{
			{Title: "The job system's operations, by one goroutine", Unit: "ns/op", Where: map[string]string{"graphs": "1"}},
			{Title: "The job system's operations, a goroutine for each recorded worker", Unit: "ns/op", Where: map[string]string{"graphs": strconv.Itoa(jobsGraphs)}},
		},
		Groups: func(env suite.Env) []suite.Group {
			rec, err := loadJobs()
			goroutines := 1
			if err == nil {
				goroutines = rec.workers
			}
			var alone, together suite.Group
			for _, p := range append(peer.All[peer.Rest64](), noStore()) {
				if p.Keys {
					alone.Cases = append(alone.Cases, suite.Case{
						Impl:   p.Name,
						Params: []suite.Param{number("graphs", 1)},
						Open:   func() (suite.Run, error) { return openReplay(p) },
					})
				}
				if p.Keys && !p.Alone {
					together.Cases = append(together.Cases, suite.Case{
						Impl:       p.Name,
						Params:     []suite.Param{number("graphs", jobsGraphs)},
						Goroutines: goroutines,
						Open:       func() (suite.Run, error) { return openReplays(p) },
					})
				}
			}
			return []suite.Group{alone, together}
		},
	}
}

// jobsGraphs is how many graphs several goroutines replay at once: enough that
// there is mostly one for each.
const jobsGraphs = 32

// graph is one replay of the recording: names of its nodes, and how far it is. It
// is used by one goroutine at a time.
type graph struct {
	*recording
	names peer.Names
	next  int    // entry
	sum   uint64 // of identities that were read
}

// worker returns who does the next operation.
func (g *graph) worker() int { return g.entries[g.next].worker }

// play does the next operations that are of one worker.
func (g *graph) play(s *jobsSession) error {
	for worker := g.worker(); g.next < len(g.entries) && g.worker() == worker; g.next++ {
		e := &g.entries[g.next]
		switch e.verb {
		case '+':
			node := e.nodes[0]
			s.Put(g.names, int(node), uint64(node)+1)
		case '?':
			g.sum += s.read(g.names, e.nodes)
		case '-':
			node := e.nodes[0]
			id, ok := s.Look(g.names, int(node))
			g.sum += id
			if !ok || !s.Drop(g.names, int(node)) {
				return fmt.Errorf("job %d was gone before it was removed", node)
			}
		}
	}
	return nil
}

// over answers whether the recording has been replayed, and begins it again.
func (g *graph) over() (bool, error) {
	if g.next < len(g.entries) {
		return false, nil
	}
	if g.sum != g.idSum {
		return true, errSum
	}
	g.next, g.sum = 0, 0
	return true, nil
}

// jobsSession is a session with its best way to look up several values.
type jobsSession struct {
	peer.Session
	read func(peer.Names, []uint32) uint64
}

// jobsStore is an open store with a session for each recorded worker.
type jobsStore struct {
	rec      *recording
	store    peer.Store
	sessions []*jobsSession
	graphs   []*graph
}

func openJobs(p peer.Peer[peer.Rest64], graphs int) (*jobsStore, error) {
	rec, err := loadJobs()
	if err != nil {
		return nil, err
	}
	// Not bounded, as the program's pool is not: a goroutine that is preempted while
	// it is pinned keeps all that is removed meanwhile.
	store, err := p.Open(peer.Config[peer.Rest64]{Live: rec.peak * graphs, Sessions: rec.workers, Grow: true})
	if err != nil {
		return nil, err
	}
	s := &jobsStore{rec: rec, store: store}
	for range rec.workers {
		session := store.Session()
		read := session.Read
		if pinned, ok := session.(peer.Pinned); ok {
			read = pinned.ReadPinned
		}
		s.sessions = append(s.sessions, &jobsSession{session, read})
	}
	for range graphs {
		s.graphs = append(s.graphs, &graph{recording: rec, names: s.sessions[0].Names(rec.nodes)})
	}
	return s, nil
}

func (s *jobsStore) Close() error {
	for _, session := range s.sessions {
		session.Close()
	}
	left := s.store.Len()
	s.store.Close()
	if left > 0 {
		return fmt.Errorf("%d jobs are left", left)
	}
	return nil
}

// openReplay makes the run of one goroutine.
func openReplay(p peer.Peer[peer.Rest64]) (suite.Run, error) {
	s, err := openJobs(p, 1)
	if err != nil {
		return nil, err
	}
	g := s.graphs[0]
	do := func(n int) (did int, err error) {
		for did < n {
			if err := g.play(s.sessions[g.worker()]); err != nil {
				return did, err
			}
			over, err := g.over()
			if err != nil {
				return did, err
			}
			if over {
				did += s.rec.ops
			}
		}
		return did, nil
	}
	return &plainRun{do, s.Close}, nil
}

// openReplays makes the run of a goroutine for each recorded worker.
func openReplays(p peer.Peer[peer.Rest64]) (suite.Run, error) {
	s, err := openJobs(p, jobsGraphs)
	if err != nil {
		return nil, err
	}
	do := func(n int) (did int, err error) {
		rounds := max(1, n/(s.rec.ops*len(s.graphs)))
		return rounds * s.rec.ops * len(s.graphs), newReplaying(s, rounds).run()
	}
	return &plainRun{do, s.Close}, nil
}

// replaying is what the goroutines of one turn share.
type replaying struct {
	*jobsStore
	inbox []chan *graph // by worker: graphs whose next operation is its

	// again counts the replays that have not begun.
	again atomic.Int64

	// alive counts the graphs that are not done with. Who brings it to zero closes
	// the inboxes.
	alive atomic.Int64

	broken atomic.Bool // somebody found an error
}

// newReplaying makes the turn in which each graph is replayed so many times, on
// average.
func newReplaying(s *jobsStore, rounds int) *replaying {
	t := &replaying{jobsStore: s}
	for range s.sessions {
		t.inbox = append(t.inbox, make(chan *graph, len(s.graphs)))
	}
	t.alive.Store(int64(len(s.graphs)))
	t.again.Store(int64((rounds - 1) * len(s.graphs)))
	for _, g := range s.graphs {
		t.inbox[g.worker()] <- g
	}
	return t
}

func (t *replaying) run() error {
	errs := make([]error, len(t.sessions))
	var wg sync.WaitGroup
	for i := range t.sessions {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = t.work(i)
		}()
	}
	wg.Wait()
	return errors.Join(errs...)
}

// work does what is a worker's, and hands graphs on.
func (t *replaying) work(worker int) (err error) {
	for g := range t.inbox[worker] {
		failed := g.play(t.sessions[worker])
		over := false
		if failed == nil {
			over, failed = g.over()
		}
		if failed != nil {
			err = errors.Join(err, failed)
			t.broken.Store(true)
		}
		switch {
		case !t.broken.Load() && (!over || t.again.Add(-1) >= 0):
			t.inbox[g.worker()] <- g
		case t.alive.Add(-1) == 0:
			for _, inbox := range t.inbox {
				close(inbox)
			}
		}
	}
	return err
}

// noStore is a peer that stores nothing, and answers as if it had.
func noStore() peer.Peer[peer.Rest64] {
	return peer.Peer[peer.Rest64]{
		About: peer.About{Name: "nothing", What: "no store", Keys: true},
		Open:  func(peer.Config[peer.Rest64]) (peer.Store, error) { return nothing{}, nil },
	}
}

// nothing is a Store, and its session names a value by its place, and knows the
// value's identity by that.
type nothing struct{ peer.Store }

type nothingSession struct{ peer.Session }

type noNames int

func (n noNames) Len() int { return int(n) }

func (nothing) Session() peer.Session                          { return nothingSession{} }
func (nothing) Len() int                                       { return 0 }
func (nothing) Close()                                         {}
func (nothingSession) Names(n int) peer.Names                  { return noNames(n) }
func (nothingSession) Put(peer.Names, int, uint64)             {}
func (nothingSession) Look(_ peer.Names, i int) (uint64, bool) { return uint64(i) + 1, true }
func (nothingSession) Drop(peer.Names, int) bool               { return true }

func (nothingSession) Read(_ peer.Names, picks []uint32) (sum uint64) {
	for _, pick := range picks {
		sum += uint64(pick) + 1
	}
	return
}

func (nothingSession) Close() {}
