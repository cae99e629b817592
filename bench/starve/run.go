package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"coatcheck/bench/measure"
	"coatcheck/bench/peer"
	"coatcheck/internal/check/turns"
)

type run struct {
	name       string
	procs      int  // GOMAXPROCS
	beside     bool // busy processes, one for each processor
	goroutines int
	each       int // the most live values of a goroutine
	capacity   int
	guards     int  // of each goroutine, pinned at any time, each for a while
	large      bool // values of a megabyte
}

var runs = []run{
	{name: "beside", procs: 2, beside: true, goroutines: 64, each: 16, capacity: 64 * 16},
	{name: "procs-1", procs: 1, goroutines: 64, each: 16, capacity: 64 * 16},
	{name: "procs-16", procs: 16, goroutines: 64, each: 16, capacity: 64 * 16},
	{name: "megabyte", procs: 2, goroutines: 16, each: 1, capacity: 16, large: true},
	{name: "guards", procs: 2, goroutines: 64, each: 16, capacity: 2048, guards: 157}, // some 10,000 in all
	{name: "one", procs: 2, goroutines: 64, each: 1, capacity: 1},
}

// contended reports whether the goroutines' values can fill the pool.
func (r *run) contended() bool { return r.goroutines*r.each > r.capacity }

// figures are those of one subject of a run.
type figures struct {
	run, subject string
	took         [operations]*hdrhistogram.Histogram
	refused      int
	false        int
	example      refusal // one of the false ones
}

func (f *figures) addFalse(found ...refusal) {
	if f.false += len(found); len(found) > 0 {
		f.example = found[0]
	}
}

// measure runs each subject for that long, in turns, and returns their figures. spoil, if
// not nil, wraps insertions. It returns an error if a subject lost a value.
func (r *run) measure(ctx context.Context, each time.Duration, spoil spoiler) ([]figures, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(r.procs))
	if r.beside {
		stop, err := burn()
		if err != nil {
			return nil, err
		}
		defer stop()
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
	store *store[R]
	users []*user[R]
	figures
}

// round is the longest turn of a subject: enough for 10 ms of each of 64 goroutines on one
// processor.
const round = 700 * time.Millisecond

func measured[R any](ctx context.Context, r *run, each time.Duration, spoil spoiler) (all []figures, err error) {
	var subjects []*subject[R]
	for _, store := range stores[R](r.capacity) {
		if spoil != nil {
			insert := store.insert
			store.insert = func(v *peer.Value[R]) (uint64, error) {
				return spoil(func() (uint64, error) { return insert(v) })
			}
		}
		s := &subject[R]{run: r, store: store, figures: figures{run: r.name, subject: store.name}}
		for k := range r.goroutines {
			s.users = append(s.users, newUser(r, store, k))
		}
		err = errors.Join(err, s.fill())
		subjects = append(subjects, s)
	}
	for spent := time.Duration(0); spent < each && ctx.Err() == nil && err == nil; spent += round {
		for _, s := range subjects {
			err = errors.Join(err, s.turn(min(each-spent, round)))
		}
	}
	for _, s := range subjects {
		for o := range s.took {
			var watches []*measure.Stopwatch
			for _, u := range s.users {
				watches = append(watches, u.watches[o])
			}
			l := measure.NewLatencies(watches)
			l.EndTurn()
			s.took[o] = l.Turn()
		}
		all = append(all, s.figures)
	}
	return all, err
}

// turn runs the goroutines for that long, in rounds, and judges their records after each.
func (s *subject[R]) turn(d time.Duration) (err error) {
	var stop atomic.Bool
	timer := time.AfterFunc(d, func() { stop.Store(true) })
	defer timer.Stop()
	for err == nil && !stop.Load() {
		var crew turns.Crew
		for _, u := range s.users {
			for i := range u.guards {
				u.guards[i] = s.store.pin()
			}
			crew = append(crew, func(int) (int, error) { return u.work(&stop) })
		}
		_, err = crew.Do(0)
		var tenures []span
		var refusals []refusal
		for _, u := range s.users {
			for i := range u.guards {
				u.guards[i].Unpin()
			}
			tenures, refusals = append(tenures, u.tenures...), append(refusals, u.refusals...)
			u.tenures, u.refusals = u.tenures[:0], u.refusals[:0]
		}
		s.refused += len(refusals)
		s.addFalse(s.run.falsely(tenures, refusals)...)
		err = errors.Join(err, s.fill())
	}
	if err != nil {
		err = fmt.Errorf("%s, %s: %w", s.run.name, s.store.name, err)
	}
	return err
}

// fill inserts values until the pool is full, and removes them, while nothing else runs.
// Exactly as many must succeed as there is room for.
func (s *subject[R]) fill() error {
	room := s.run.capacity
	for _, u := range s.users {
		for _, name := range u.names {
			if name != 0 {
				room--
			}
		}
	}
	var names []uint64
	var v peer.Value[R]
	for len(names) <= room {
		name, err := s.store.insert(&v)
		if err != nil {
			if len(names) < room {
				s.addFalse(refusal{err: err})
			}
			break
		}
		names = append(names, name)
	}
	if len(names) > room {
		return fmt.Errorf("more than %d values were live", s.run.capacity)
	}
	for _, name := range names {
		if !s.store.remove(name) {
			return errors.New("the removal of a live value failed")
		}
	}
	return nil
}
