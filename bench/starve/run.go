package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"coatcheck/bench/measure"
	"coatcheck/bench/peer"
)

type run struct {
	name, about string
	procs       int  // GOMAXPROCS
	beside      bool // busy processes, one for each processor
	goroutines  int
	each        int // the most live values of a goroutine
	capacity    int
	guards      int  // pinned at any time, each for a while
	large       bool // values of a megabyte
}

var runs = []run{
	{name: "beside", about: "64 goroutines on two processors, beside busy processes", procs: 2, beside: true, goroutines: 64, each: 16, capacity: 64 * 16},
	{name: "procs-1", about: "the same on one processor, without these", procs: 1, goroutines: 64, each: 16, capacity: 64 * 16},
	{name: "procs-16", about: "the same with GOMAXPROCS 16", procs: 16, goroutines: 64, each: 16, capacity: 64 * 16},
	{name: "megabyte", about: "values of 1 MB", procs: 2, goroutines: 16, each: 1, capacity: 16, large: true},
	{name: "guards", about: "10,000 guards that come and go", procs: 2, goroutines: 64, each: 16, capacity: 2048, guards: 10_000},
	{name: "one", about: "64 goroutines on a pool of one slot", procs: 2, goroutines: 64, each: 1, capacity: 1},
}

// contended reports whether the goroutines' values can fill the pool.
func (r *run) contended() bool { return r.goroutines*r.each > r.capacity }

func (r *run) guardsEach() int { return (r.guards + r.goroutines - 1) / r.goroutines }

// figures are those of one subject of a run.
type figures struct {
	run, subject string
	took         [operations]*hdrhistogram.Histogram
	refused      int
	false        int
	example      refusal // one of the false ones
}

// measure runs each subject for that long, in turns, and returns their figures. spoil, if
// not nil, wraps insertions. It returns an error if a subject lost a value.
func (r *run) measure(ctx context.Context, each time.Duration, spoil spoiler) (_ []figures, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(r.procs))
	if r.beside {
		stop, err := burn()
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	if r.large {
		return measured[[1<<17 - 1]uint64](ctx, r, each, spoil)
	}
	return measured[peer.Rest16](ctx, r, each, spoil)
}

// spoiler wraps insertions, to see that false refusals are found.
type spoiler func(insert func() (uint64, error)) (uint64, error)

type subject[R any] struct {
	run   *run
	store store[R]
	hands []*hand[R]
	figures
}

// round is the longest turn of a subject: enough for 10 ms of each of 64 goroutines on one
// processor.
const round = 700 * time.Millisecond

func measured[R any](ctx context.Context, r *run, each time.Duration, spoil spoiler) (all []figures, err error) {
	names, stores := stores[R](r.capacity)
	var subjects []*subject[R]
	for i, name := range names {
		s := &subject[R]{run: r, store: stores[i], figures: figures{run: r.name, subject: name}}
		if spoil != nil {
			s.store = spoilt[R]{s.store, spoil}
		}
		for k := range r.goroutines {
			s.hands = append(s.hands, newHand(r, s.store, k))
		}
		if err := s.fill(); err != nil {
			return nil, err
		}
		subjects = append(subjects, s)
	}
	for spent := time.Duration(0); spent < each && ctx.Err() == nil && err == nil; {
		turn := min(each-spent, round)
		for _, s := range subjects {
			err = errors.Join(err, s.turn(turn))
		}
		spent += turn
	}
	for _, s := range subjects {
		for o := range s.took {
			var watches []*measure.Stopwatch
			for _, h := range s.hands {
				watches = append(watches, h.watches[o])
			}
			l := measure.NewLatencies(watches)
			l.EndTurn()
			s.took[o] = l.Turn()
			err = errors.Join(err, l.Err())
		}
		all = append(all, s.figures)
	}
	return all, err
}

// turn runs the goroutines for that long, in rounds, and judges their records.
func (s *subject[R]) turn(d time.Duration) (err error) {
	for end := time.Now().Add(d); err == nil && time.Until(end) > 0; {
		s.eachGuard(guards.Pin)
		var stop atomic.Bool
		timer := time.AfterFunc(time.Until(end), func() { stop.Store(true) })
		var wg sync.WaitGroup
		for _, h := range s.hands {
			wg.Add(1)
			go func() {
				defer wg.Done()
				h.work(&stop)
			}()
		}
		wg.Wait()
		timer.Stop()
		s.eachGuard(guards.Unpin)
		var tenures []span
		var refusals []refusal
		for _, h := range s.hands {
			tenures, refusals = append(tenures, h.tenures...), append(refusals, h.refusals...)
			s.refused += h.refused
			h.tenures, h.refusals, h.refused = h.tenures[:0], h.refusals[:0], 0
			err = errors.Join(err, h.err)
		}
		s.accuse(s.run.falsely(tenures, refusals))
		err = errors.Join(err, s.fill())
	}
	return err
}

func (s *subject[R]) eachGuard(do func(g guards, i int)) {
	for _, h := range s.hands {
		if h.guards != nil {
			for i := range s.run.guardsEach() {
				do(h.guards, i)
			}
		}
	}
}

func (s *subject[R]) accuse(found []refusal) {
	if s.false += len(found); len(found) > 0 {
		s.example = found[0]
	}
}

// fill inserts values until the pool is full, and removes them, while nothing else runs.
// Exactly as many must succeed as there is room for.
func (s *subject[R]) fill() error {
	room := s.run.capacity
	for _, h := range s.hands {
		for _, name := range h.names {
			if name != 0 {
				room--
			}
		}
	}
	var names []uint64
	var v peer.Value[R]
	for len(names) <= room {
		name, err := s.store.Insert(&v)
		if err != nil {
			if len(names) < room {
				s.accuse([]refusal{{err: err}})
			}
			break
		}
		names = append(names, name)
	}
	if len(names) > room {
		return fmt.Errorf("%s: more than %d values were live", s.run.name, s.run.capacity)
	}
	for _, name := range names {
		if !s.store.Remove(name) {
			return fmt.Errorf("%s: the removal of a live value failed", s.run.name)
		}
	}
	return nil
}
