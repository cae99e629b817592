package workload

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"strconv"
	"sync"
	"time"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// plainRun is a suite.Run of two functions, of which end may be nil.
type plainRun struct {
	do  func(n int) (int, error)
	end func() error
}

func (r *plainRun) Do(n int) (int, error) { return r.do(n) }

func (r *plainRun) Close() error {
	if r.end == nil {
		return nil
	}
	return r.end()
}

// timedRun is a plainRun that times itself.
type timedRun struct {
	plainRun
	watch *stopwatch
}

func (r *timedRun) Do(n int) (int, error) {
	r.watch.took = 0
	return r.do(n)
}

func (r *timedRun) Took() time.Duration { return r.watch.took }

// meteredRun is a timedRun with further figures.
type meteredRun struct {
	timedRun
	figures map[string]float64
}

func (r *meteredRun) Metrics() map[string]float64 { return r.figures }

// raise sets a figure to the maximum of itself and the given one.
func (r *meteredRun) raise(unit string, figure float64) {
	r.figures[unit] = max(r.figures[unit], figure)
}

// stopwatch adds up the timed parts of a turn.
type stopwatch struct {
	began time.Time
	took  time.Duration
}

func (w *stopwatch) start() { w.began = time.Now() }
func (w *stopwatch) stop()  { w.took += time.Since(w.began) }

func param(key, value string) suite.Param { return suite.Param{Key: key, Value: value} }

func number(key string, value int) suite.Param { return param(key, strconv.Itoa(value)) }

// peersOf returns the peers with those names. It panics if one does not exist.
func peersOf[R any](names ...string) []peer.Peer[R] {
	var ps []peer.Peer[R]
	for _, name := range names {
		p, ok := peer.ByName[R](name)
		if !ok {
			panic("workload: no peer " + name)
		}
		ps = append(ps, p)
	}
	return ps
}

// rolesWith returns the roles of all peers, with those in more.
func rolesWith(more ...map[string]suite.Role) map[string]suite.Role {
	roles := peer.Roles()
	for _, m := range more {
		maps.Copy(roles, m)
	}
	return roles
}

// sumTo returns 1 + 2 + … + n.
func sumTo(n int) uint64 { return uint64(n) * (uint64(n) + 1) / 2 }

// upTo returns 0, 1, … n-1.
func upTo(n int) []uint32 {
	picks := make([]uint32, n)
	for i := range picks {
		picks[i] = uint32(i)
	}
	return picks
}

// shuffled returns 0, 1, … n-1 in random order.
func shuffled(n int, seed uint64) []uint32 {
	picks := upTo(n)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(n, func(i, j int) { picks[i], picks[j] = picks[j], picks[i] })
	return picks
}

// common is a value that several cases of a group read. The first open creates it, and
// the last close drops it.
type common[T any] struct {
	create func() (T, error)

	mu    sync.Mutex
	users int
	value T
}

func (c *common[T]) open() (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users == 0 {
		v, err := c.create()
		if err != nil {
			return v, err
		}
		c.value = v
	}
	c.users++
	return c.value, nil
}

func (c *common[T]) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users--
	if c.users == 0 {
		var none T
		c.value = none
	}
	return nil
}

// liveHeap runs the garbage collector and returns the bytes that it leaves.
func liveHeap() int64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// emptied checks what Empty returned for the values 1 … n, and that the store is empty.
func emptied(store peer.Store, n int, sum uint64, failed int) error {
	switch left := store.Len(); {
	case failed != 0:
		return fmt.Errorf("%d of %d live values could not be removed", failed, n)
	case sum != sumTo(n):
		return fmt.Errorf("%d values add up to %d, not %d", n, sum, sumTo(n))
	case left > 0:
		return fmt.Errorf("%d of %d removed values are still live", left, n)
	}
	return nil
}

var errSum = errors.New("the values read are not the values stored")
