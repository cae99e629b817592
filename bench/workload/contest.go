package workload

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/turns"
)

// rules are those of a contest, the same for all peers.
type rules struct {
	params     []suite.Param
	live       int // the most live values
	goroutines int
	plan       func([]peer.Session) job

	words bool // only contestants whose names are words
	reads bool // of look-ups alone
}

// job is the work of each goroutine, a session each, and the checks of the result.
type job struct {
	works  []turns.Work
	checks []func() error
	left   int // live values after the checks
}

// contests returns a case for each peer that may have that many goroutines.
func contests[R any](r rules) (cases []suite.Case) {
	for _, p := range peer.All[R]() {
		if r.may(&p.About) {
			cases = append(cases, r.caseOf(p.Name, func() suite.Run { return enter(p, r) }))
		}
	}
	return cases
}

func (r *rules) caseOf(impl string, open func() suite.Run) suite.Case {
	return suite.Case{Impl: impl, Params: r.params, Goroutines: r.goroutines, Open: open}
}

// reference returns a case without a store.
func (r *rules) reference(impl string, work func() turns.Work) suite.Case {
	return r.caseOf(impl, func() suite.Run {
		var works turns.Crew
		for range r.goroutines {
			works = append(works, work())
		}
		return suite.Run{Do: works.Do}
	})
}

// may reports whether the peer may take part.
func (r *rules) may(about *peer.About) bool {
	differs := !about.Reads
	if r.reads {
		differs = !about.Writes
	}
	return differs && (!about.Alone || r.goroutines == 1) && (about.Keys || !r.words)
}

// enter opens a peer's store, and a session for each goroutine.
func enter[R any](p peer.Peer[R], r rules) suite.Run {
	// With several goroutines the room that a pool needs is not known: while one is
	// preempted within an operation, no slot that others remove is reclaimed. So all
	// stores grow, and have reached their size when the first turn begins.
	store := p.Open(peer.Config[R]{Rest: rest[R](), Live: r.live, Sessions: r.goroutines, Grow: r.goroutines > 1})
	var sessions []peer.Session
	for range r.goroutines {
		sessions = append(sessions, store.Session())
	}
	j := r.plan(sessions)
	return suite.Run{Do: turns.Crew(j.works).Do, Close: func() (err error) {
		for _, check := range j.checks {
			err = errors.Join(err, check())
		}
		for _, s := range sessions {
			s.Close()
		}
		if n := store.Len(); n >= 0 && n != j.left {
			err = errors.Join(err, fmt.Errorf("%d values are live at the end; want %d", n, j.left))
		}
		return err
	}}
}

// base returns the first identity of a session. No two sessions store the same one.
func base(session int) uint64 { return uint64(session+1) << 40 }

// draw returns n random picks of places, the same in each run for a stream.
func draw(stream, n, places int) []uint32 {
	r := rand.New(rand.NewPCG(1, uint64(stream)))
	picks := make([]uint32, n)
	for i := range picks {
		picks[i] = r.Uint32N(uint32(places))
	}
	return picks
}

// many returns how many picks are enough that neither the cache nor the branch predictor
// learns them.
func many(places int) int { return max(1<<14, min(2*places, 1<<20)) }

// cycle repeats a list of picks, some at a time.
type cycle struct {
	all []uint32
	at  int
}

// each calls do with n picks, some at a time.
func (c *cycle) each(n int, do func(picks []uint32) error) (did int, err error) {
	for did < n && err == nil {
		if c.at == len(c.all) {
			c.at = 0
		}
		picks := c.all[c.at:min(c.at+n-did, len(c.all))]
		c.at += len(picks)
		err = do(picks)
		did += len(picks)
	}
	return did, err
}

// cleared removes the values that a Fill stored from first on. It requires all of them.
func cleared(s peer.Session, ns peer.Names, first uint64) error {
	sum, failed := s.Empty(ns)
	n := ns.Len()
	if want := uint64(n)*first + uint64(n)*uint64(n-1)/2; sum != want || failed > 0 {
		return fmt.Errorf("%d of %d values could not be looked up and removed; the identities sum to %d, want %d", failed, n, sum, want)
	}
	return nil
}

// rest returns the part of a value beside its identity. Its pointers are not nil, so that
// the collector has something to follow.
func rest[R any]() (r R) {
	if all := reflect.ValueOf(&r).Elem(); all.Kind() == reflect.Struct { // peer.Refs16 and so on
		to := reflect.ValueOf(new(uint64))
		for i := range all.Field(0).Len() {
			all.Field(0).Index(i).Set(to)
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
