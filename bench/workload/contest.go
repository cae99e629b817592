package workload

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/check/turns"
)

// contest is a case that is open: a store, a session for each goroutine, and the
// goroutines with what they do.
type contest struct {
	turns.Crew
	store    peer.Store
	sessions []peer.Session
	check    func() error
	left     int // how many values are live after check
}

// job is what the goroutines of a contest do, and how to find out in the end
// whether they did it right.
type job struct {
	works []turns.Work
	check func() error
	left  int // how many values are live after check
}

// enter opens a peer's store with a session for each of so many goroutines, and
// has plan say what they do. The store's room is for live values.
func enter[R any](p peer.Peer[R], live, goroutines int, plan func([]peer.Session) (job, error)) (*contest, error) {
	// With several goroutines there is no saying how much room a pool needs: while one
	// loses its processor in the middle of an operation, nothing that others remove
	// comes free, and a pool with a bound would be full. So all grow then, and have
	// their size when the first turn begins.
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

// Close sees whether everything was done right.
func (c *contest) Close() error {
	err := c.check()
	return errors.Join(err, c.shut())
}

// shut closes sessions and store, and sees how many values are live.
func (c *contest) shut() error {
	for _, s := range c.sessions {
		s.Close()
	}
	n := c.store.Len()
	c.store.Close()
	if n >= 0 && n != c.left {
		return fmt.Errorf("%d values are live in the end and %d should be", n, c.left)
	}
	return nil
}

// base returns the first identity of the values that a session stores, so that no
// two sessions store the same.
func base(session int) uint64 { return uint64(session+1) << 40 }

// draw returns n picks among so many places.
func draw(seed uint64, session, n, places int) []uint32 {
	r := rand.New(rand.NewPCG(seed, uint64(session)))
	picks := make([]uint32, n)
	for i := range picks {
		picks[i] = r.Uint32N(uint32(places))
	}
	return picks
}

// cycle goes round a list of picks, some at a time.
type cycle[T any] struct {
	all []T
	at  int
}

// next returns at most n that come next, at least one.
func (c *cycle[T]) next(n int) []T {
	if c.at == len(c.all) {
		c.at = 0
	}
	next := c.all[c.at:min(c.at+n, len(c.all))]
	c.at += len(next)
	return next
}

// rest returns what values hold beside their identity. Pointers are not nil: a
// collector would have nothing to follow.
func rest[R any]() (r R) {
	to := new(uint64)
	switch r := any(&r).(type) {
	case *peer.Rest16:
		r[0] = 1
	case *peer.Rest64:
		r[0] = 1
	case *peer.Rest256:
		r[0] = 1
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
	var r R
	name := fmt.Sprintf("%T", r)
	switch any(r).(type) {
	case peer.Rest16:
		name = "16B"
	case peer.Rest64:
		name = "64B"
	case peer.Rest256:
		name = "256B"
	case peer.Refs16:
		name = "16B-pointers"
	case peer.Refs64:
		name = "64B-pointers"
	case peer.Refs256:
		name = "256B-pointers"
	}
	return suite.Param{Key: "value", Value: name}
}

// groupsOf makes groups for one kind of value.
type groupsOf func(suite.Env) []suite.Group

// values returns the groups of the first kind, and of all others in a full run.
func values(first groupsOf, others ...groupsOf) groupsOf {
	return func(env suite.Env) []suite.Group {
		groups := first(env)
		if env.Full {
			for _, of := range others {
				groups = append(groups, of(env)...)
			}
		}
		return groups
	}
}

// sizesOf returns how big stores should be: few and small ones in a quick run.
func sizesOf(env suite.Env, sizes ...int) []int {
	if env.Quick {
		return []int{min(sizes[0], 100)}
	}
	return sizes
}

// big is how many values a store has that should not be open beside others.
const big = 100_000

// goroutinesOf returns 1 and GOMAXPROCS.
func goroutinesOf(env suite.Env) []int {
	return slices.Compact([]int{1, env.Procs})
}

// may answers whether so many goroutines may work on the peer.
func may(about *peer.About, goroutines int) bool { return goroutines == 1 || !about.Alone }
