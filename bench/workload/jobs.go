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

func jobs() suite.Question {
	return suite.Question{
		ID:    "Jobs",
		Title: "What does the mix of a real job system cost?",
		About: "The operations of examples/jobs are replayed. They were recorded while four workers type-checked the standard library: 2,034 jobs, some 470 live at most, nine in ten removed by another worker than inserted them. " +
			"Take is a look-up and a removal here, since not all stores have it; the look-ups of one pin are made under one guard where there are guards. Values have 64 bytes, and each operation of each store is a call through an interface. " +
			"With one goroutine the four workers' sessions take turns in the recorded order, on one graph of jobs. With four, each replays its worker's operations, on 32 graphs at once, and sends a graph to the worker of the next operation, so the recorded order holds.",
		Roles: rolesWith(),
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
			for _, p := range peer.All[peer.Rest64]() {
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

// jobsGraphs is the number of graphs that several goroutines replay at once: enough that
// each mostly has one.
const jobsGraphs = 32

// graph is one replay of the recording. One goroutine at a time uses it.
type graph struct {
	*recording
	names peer.Names
	next  int    // entry
	sum   uint64 // of identities that were read
}

// worker returns the worker of the next operation.
func (g *graph) worker() int { return g.entries[g.next].worker }

// play does the next operations of one worker.
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
				return fmt.Errorf("live job %d could not be removed", node)
			}
		}
	}
	return nil
}

// over reports whether the recording has been replayed, and if so rewinds it.
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

// jobsSession is a session with its fastest loop of look-ups.
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
	// The store grows, as the pool of examples/jobs does.
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
		return fmt.Errorf("%d removed jobs are still live", left)
	}
	return nil
}

// openReplay returns the run of one goroutine.
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

// openReplays returns the run with a goroutine for each recorded worker.
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
	inbox []chan *graph // by worker: graphs whose next operation it does

	again  atomic.Int64 // replays that have not begun
	alive  atomic.Int64 // unfinished graphs; the goroutine that makes it zero closes the inboxes
	broken atomic.Bool  // a goroutine found an error
}

// newReplaying returns a turn of rounds replays of each graph, on average.
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

// work does a worker's operations and sends graphs to the next worker.
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
