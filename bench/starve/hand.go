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

// hand is a goroutine that uses a store, with its records.
type hand[R any] struct {
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

func newHand[R any](r *run, s *store[R], k int) *hand[R] {
	h := &hand[R]{
		run: r, store: s, rand: rand.New(rand.NewPCG(uint64(k), 1)),
		names: make([]uint64, r.each), ids: make([]uint64, r.each), from: make([]time.Duration, r.each),
	}
	h.value.ID = uint64(k) << 40
	for o := range h.watches {
		h.watches[o] = measure.NewStopwatch()
	}
	if s.pin != nil {
		h.guards = make([]pool.Guard[peer.Value[R]], r.guards)
	}
	return h
}

// work replaces values until stop is set, and returns their number. In a contended run it
// removes each at once, at most attempts times.
func (h *hand[R]) work(stop *atomic.Bool) (n int, err error) {
	contended := h.run.contended()
	for ; err == nil && !stop.Load() && !(contended && n == attempts); n++ {
		i := h.rand.IntN(len(h.names))
		err = h.end(i)
		if len(h.guards) > 0 {
			h.renew(n)
		}
		h.insert(i)
		if h.names[i] == 0 || contended && h.rand.IntN(8) == 0 {
			runtime.Gosched() // to the goroutines that have the slots, or want them
		}
		if contended {
			err = errors.Join(err, h.end(i))
		}
	}
	return n, err
}

// insert inserts a value with a new identity at place i, or records a refusal.
func (h *hand[R]) insert(i int) {
	h.value.ID++
	from := now()
	h.fence.Add(1) // keeps the insertion's loads behind the reading of the clock
	name, err := h.store.insert(&h.value)
	to := now()
	h.watches[insert].Record(to - from)
	if err != nil {
		h.refusals = append(h.refusals, refusal{span{from, to}, err})
		return
	}
	h.names[i], h.ids[i], h.from[i] = name, h.value.ID, from
}

// end looks up the value of place i, if there is one, and removes it.
func (h *hand[R]) end(i int) error {
	name := h.names[i]
	if name == 0 {
		return nil
	}
	var id uint64
	var ok bool
	from := now()
	if len(h.guards) == 0 {
		id, ok = h.store.look(name)
	} else if v, live := h.guards[h.rand.IntN(len(h.guards))].Get(pool.Handle[peer.Value[R]](name)); live {
		id, ok = v.ID, true
	}
	looked := now()
	removed := h.store.remove(name)
	to := now()
	h.watches[look].Record(looked - from)
	h.watches[remove].Record(to - looked)
	h.names[i] = 0
	if h.run.contended() {
		h.tenures = append(h.tenures, span{h.from[i], to})
	}
	if !ok || id != h.ids[i] || !removed {
		return fmt.Errorf("value %#x was found as %#x (%v), and removed: %v", h.ids[i], id, ok, removed)
	}
	return nil
}

// renew pins a guard in place of the one that has been pinned for longest.
func (h *hand[R]) renew(n int) {
	g := &h.guards[n%len(h.guards)]
	from := now()
	g.Unpin()
	*g = h.store.pin()
	h.watches[pin].Record(now() - from)
	if n%32 == 0 {
		runtime.Gosched() // so that the others pin and unpin too
	}
}
