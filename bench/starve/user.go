package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"coatcheck/bench/measure"
	"coatcheck/bench/peer"
	"coatcheck/pool"
)

// The operations that are timed, and their names.
const (
	insert = iota
	look
	remove
	pin // and the unpin before it
	operations
)

var operationNames = [operations]string{"insert", "look-up", "remove", "unpin+pin"}

// began is the origin of the clock of all spans.
var began = time.Now()

func now() time.Duration { return time.Since(began) }

// attempts bounds the records of a goroutine in a round.
const attempts = 1 << 13

// user is a goroutine that uses a store, with its records.
type user[R any] struct {
	run     *run
	store   *store[R]
	guards  []pool.Guard[peer.Value[R]] // none if the store has none
	rand    *rand.Rand
	watches [operations]*measure.Stopwatch

	value peer.Value[R] // its identity is that of the last value inserted
	names []uint64      // of values that live; 0 is none
	ids   []uint64
	from  []time.Duration // the calls of their insertions
	fence atomic.Uint64

	tenures  []span // if the run is contended
	refusals []refusal
}

func newUser[R any](r *run, s *store[R], k int) *user[R] {
	u := &user[R]{
		run: r, store: s, rand: rand.New(rand.NewPCG(uint64(k), 1)),
		names: make([]uint64, r.each), ids: make([]uint64, r.each), from: make([]time.Duration, r.each),
	}
	u.value.ID = uint64(k) << 40
	for o := range u.watches {
		u.watches[o] = measure.NewStopwatch()
	}
	if s.pin != nil {
		u.guards = make([]pool.Guard[peer.Value[R]], r.guards)
	}
	return u
}

// work replaces values until stop is set, and returns their number. In a contended run it
// removes each at once, at most attempts times.
func (u *user[R]) work(stop *atomic.Bool) (n int, err error) {
	contended := u.run.contended()
	for ; err == nil && !stop.Load() && !(contended && n == attempts); n++ {
		i := u.rand.IntN(len(u.names))
		err = u.end(i)
		if len(u.guards) > 0 {
			u.renew(n)
		}
		u.insert(i)
		if u.names[i] == 0 || contended && u.rand.IntN(8) == 0 {
			runtime.Gosched() // to the goroutines that have the slots, or want them
		}
		if contended {
			err = errors.Join(err, u.end(i))
		}
	}
	return n, err
}

// insert inserts a value with a new identity at place i, or records a refusal.
func (u *user[R]) insert(i int) {
	u.value.ID++
	from := now()
	u.fence.Add(1) // keeps the insertion's loads behind the reading of the clock
	name, err := u.store.insert(&u.value)
	to := now()
	u.watches[insert].Record(to - from)
	if err != nil {
		u.refusals = append(u.refusals, refusal{span{from, to}, err})
		return
	}
	u.names[i], u.ids[i], u.from[i] = name, u.value.ID, from
}

// end looks up the value of place i, if there is one, and removes it.
func (u *user[R]) end(i int) error {
	name := u.names[i]
	if name == 0 {
		return nil
	}
	var id uint64
	var ok bool
	from := now()
	if len(u.guards) == 0 {
		id, ok = u.store.look(name)
	} else if v, live := u.guards[u.rand.IntN(len(u.guards))].Get(pool.Handle[peer.Value[R]](name)); live {
		id, ok = v.ID, true
	}
	looked := now()
	removed := u.store.remove(name)
	to := now()
	u.watches[look].Record(looked - from)
	u.watches[remove].Record(to - looked)
	u.names[i] = 0
	if u.run.contended() {
		u.tenures = append(u.tenures, span{u.from[i], to})
	}
	if !ok || id != u.ids[i] || !removed {
		return fmt.Errorf("value %#x was found as %#x (%v), and removed: %v", u.ids[i], id, ok, removed)
	}
	return nil
}

// renew pins a guard in place of the one that has been pinned for longest.
func (u *user[R]) renew(n int) {
	g := &u.guards[n%len(u.guards)]
	from := now()
	g.Unpin()
	*g = u.store.pin()
	u.watches[pin].Record(now() - from)
	if n%32 == 0 {
		runtime.Gosched() // so that the others pin and unpin too
	}
}
