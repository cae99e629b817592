package workload

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/check/turns"
)

// contest is an open case: a store, and a goroutine with a session for each work.
type contest struct {
	turns.Crew
	store    peer.Store
	sessions []peer.Session
	check    func() error
	left     int // live values after check
}

// job is the work of each goroutine of a contest, and the check of its result.
type job struct {
	works []turns.Work
	check func() error
	left  int // live values after check
}

// enter opens a peer's store with room for live values and a session for each goroutine,
// and calls plan for their work.
func enter[R any](p peer.Peer[R], live, goroutines int, plan func([]peer.Session) (job, error)) (*contest, error) {
	// With several goroutines the room that a pool needs is not known: while one is
	// preempted within an operation, no slot that others remove is reclaimed. So all
	// stores grow, and have reached their size when the first turn begins.
	store, err := p.Open(peer.Config[R]{Rest: rest[R](), Live: live, Sessions: goroutines, Grow: goroutines > 1})
	if err != nil {
		return nil, err
	}
	c := &contest{store: store}
	for range goroutines {
		c.sessions = append(c.sessions, store.Session())
	}
	j, err := plan(c.sessions)
	if err != nil {
		return nil, errors.Join(err, c.shut())
	}
	c.check, c.left = j.check, j.left
	c.Crew = turns.Crew(j.works)
	return c, nil
}

// Close checks the values and closes the store.
func (c *contest) Close() error {
	err := c.check()
	return errors.Join(err, c.shut())
}

// shut closes sessions and store, and checks how many values are live.
func (c *contest) shut() error {
	for _, s := range c.sessions {
		s.Close()
	}
	n := c.store.Len()
	c.store.Close()
	if n >= 0 && n != c.left {
		return fmt.Errorf("%d values are live at the end; want %d", n, c.left)
	}
	return nil
}

// base returns the first identity of a session. No two sessions store the same one.
func base(session int) uint64 { return uint64(session+1) << 40 }

// draw returns n random picks of places.
func draw(seed uint64, session, n, places int) []uint32 {
	r := rand.New(rand.NewPCG(seed, uint64(session)))
	picks := make([]uint32, n)
	for i := range picks {
		picks[i] = r.Uint32N(uint32(places))
	}
	return picks
}

// cycle repeats a list of picks, some at a time.
type cycle[T any] struct {
	all []T
	at  int
}

// next returns the next picks, one to n of them.
func (c *cycle[T]) next(n int) []T {
	if c.at == len(c.all) {
		c.at = 0
	}
	next := c.all[c.at:min(c.at+n, len(c.all))]
	c.at += len(next)
	return next
}

// rest returns the part of a value beside its identity. Its pointers are not nil, so that
// the collector has something to follow.
func rest[R any]() (r R) {
	to := new(uint64)
	switch r := any(&r).(type) {
	case *peer.Refs16:
		r.To = to
	case *peer.Refs64:
		for i := range r.To {
			r.To[i] = to
		}
	case *peer.Refs256:
		for i := range r.To {
			r.To[i] = to
		}
	}
	return r
}

// value is the parameter that names the kind of value.
func value[R any]() suite.Param {
	name := fmt.Sprintf("%dB", reflect.TypeFor[peer.Value[R]]().Size())
	if reflect.TypeFor[R]().Kind() == reflect.Struct { // peer.Refs16 and so on
		name += "-pointers"
	}
	return suite.Param{Key: "value", Value: name}
}

// sizesOf returns the sizes of stores: one small size in a quick run.
func sizesOf(env suite.Env, sizes ...int) []int {
	if env.Quick {
		return []int{min(sizes[0], 100)}
	}
	return sizes
}

// big is the number of values from which on a store is measured apart.
const big = 100_000

func goroutinesOf(env suite.Env) []int {
	return slices.Compact([]int{1, env.Procs})
}

// may reports whether that many goroutines may use the peer.
func may(about *peer.About, goroutines int) bool { return goroutines == 1 || !about.Alone }
