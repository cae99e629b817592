package workload

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
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

// meteredRun is a plainRun that times itself and has further figures.
type meteredRun struct {
	plainRun
	took    time.Duration
	figures map[string]float64
}

func (r *meteredRun) Do(n int) (int, error) {
	r.took = 0
	return r.do(n)
}

func (r *meteredRun) Took() time.Duration         { return r.took }
func (r *meteredRun) Metrics() map[string]float64 { return r.figures }

// timed adds the time of f to that of the turn.
func (r *meteredRun) timed(f func()) {
	began := time.Now()
	f()
	r.took += time.Since(began)
}

func param(key, value string) suite.Param { return suite.Param{Key: key, Value: value} }

func number(key string, value int) suite.Param { return param(key, strconv.Itoa(value)) }

// peersOf returns the peers with those names.
func peersOf[R any](names ...string) []peer.Peer[R] {
	return slices.DeleteFunc(peer.All[R](), func(p peer.Peer[R]) bool { return !slices.Contains(names, p.Name) })
}

// must returns v. It panics if there is an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// upTo returns 0, 1, … n-1.
func upTo(n int) []uint32 {
	picks := make([]uint32, n)
	for i := range picks {
		picks[i] = uint32(i)
	}
	return picks
}

// shuffled returns 0, 1, … n-1 in random order.
func shuffled(n int) []uint32 {
	picks := upTo(n)
	rand.New(rand.NewPCG(1, 0)).Shuffle(n, func(i, j int) { picks[i], picks[j] = picks[j], picks[i] })
	return picks
}

// liveHeap runs the garbage collector and returns the bytes that it leaves.
func liveHeap() int64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// emptied requires of a session the values 1 … n, which it removes, and then closes it.
func emptied(store peer.Store, session peer.Session, names peer.Names) error {
	err := cleared(session, names, 1)
	session.Close()
	if left := store.Len(); left > 0 && err == nil {
		err = fmt.Errorf("%d of %d removed values are still live", left, names.Len())
	}
	return err
}
