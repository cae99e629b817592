package workload

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/pool"
)

// locking is a map under a lock, which no other question has.
const locking = "rwmutex"

func pins() suite.Question {
	return suite.Question{
		ID:    "Pins",
		Title: "What does it cost those who insert and remove when a reader takes long?",
		About: "One goroutine replaces 64 values of 64 bytes in turn for a tenth of a second. Another looks one of them up, keeps it in use for the time that pin says, then rests as long, and so on; turn is one look-up for the whole time. " +
			"pool and worker keep the value by a guard, hold by a Ref of that value alone. rwmutex is a map whose reader holds the read lock, so that the writer waits: the alternative if the value must not be copied. " +
			"It has no line for turn, in which it would do nothing. limbo-slots is the most slots that waited for the reader, pool-B the most memory of the pool.",
		Charts: []suite.Chart{
			{Title: "Replacements beside a reader that takes long", Unit: "ns/op"},
			{Title: "Removed slots that wait for the reader, at most", Unit: "limbo-slots"},
			{Title: "Memory of the pool beside the reader, at most", Unit: "pool-B"},
		},
		Groups: func(env suite.Env) []suite.Group {
			window := 100 * time.Millisecond
			if env.Quick {
				window = 5 * time.Millisecond
			}
			g := suite.Group{Once: true}
			for _, pin := range []struct {
				name  string
				pause time.Duration
			}{{"none", 0}, {"1ms", time.Millisecond}, {"10ms", 10 * time.Millisecond}, {"turn", window}} {
				params := []suite.Param{param("pin", pin.name)}
				for _, impl := range []string{peer.NamePool, peer.NameWorker, "hold", locking} {
					if impl != locking || pin.name != "turn" {
						g.Cases = append(g.Cases, suite.Case{Impl: impl, Params: params, Open: func() suite.Run { return openPins(impl, window, pin.pause) }})
					}
				}
			}
			return []suite.Group{g}
		},
	}
}

type pinValue = peer.Value[peer.Rest64]
type pinHandle = pool.Handle[pinValue]

// pinStore is the store of the two goroutines, as functions.
type pinStore struct {
	put  func(id uint64) (name uint64, err error)
	drop func(name uint64) bool
	// keep looks a value up and keeps it until release is called.
	keep  func(name uint64) (v *pinValue, release func(), ok bool)
	limbo func() (slots int, bytes int64) // nil if none waits
	end   func() (live int)               // of the writer
}

// openPins returns a run whose Do opens a store and uses it for a window.
func openPins(impl string, window, pause time.Duration) suite.Run {
	r := &meteredRun{figures: map[string]float64{}}
	r.do = func(int) (did int, err error) {
		s := lockedPins()
		if impl != locking {
			s = poolPins(impl == peer.NameWorker, impl == "hold")
		}
		return (&pinTurn{pinStore: s, run: r, window: window, pause: pause}).measure()
	}
	return r
}

// pinTurn is one turn: a writer and a reader.
type pinTurn struct {
	pinStore
	run           *meteredRun
	window, pause time.Duration

	names [64]atomic.Uint64 // of the live values
	over  atomic.Bool
}

func (t *pinTurn) measure() (did int, err error) {
	for i := range t.names {
		name, err := t.put(uint64(i))
		if err != nil {
			return 0, err
		}
		t.names[i].Store(name)
	}
	read := make(chan error, 1) // the result of the reader
	if t.pause > 0 {
		ready := make(chan struct{})
		go func() { read <- t.read(sync.OnceFunc(func() { close(ready) })) }()
		<-ready
	}
	timer := time.AfterFunc(t.window, func() { t.over.Store(true) })
	t.run.timed(func() { did, err = t.write() })
	timer.Stop()
	t.over.Store(true)
	if t.pause == 0 {
		t.note()
		read <- nil
	}
	if wrong := <-read; err == nil {
		err = wrong
	}
	for i := range t.names {
		if err == nil && !t.drop(t.names[i].Load()) {
			err = fmt.Errorf("live value %d could not be removed", i)
		}
	}
	if left := t.end(); err == nil && left != 0 {
		err = fmt.Errorf("%d removed values are still live", left)
	}
	return did, err
}

// write replaces values until the window ends, and one at least. It looks after each
// replacement, since one that waits for the lock may take the rest of the window.
func (t *pinTurn) write() (did int, err error) {
	for i := 0; did == 0 || !t.over.Load(); i = (i + 1) % len(t.names) {
		name, err := t.put(uint64(i))
		if err != nil {
			return did, err
		}
		if old := t.names[i].Swap(name); !t.drop(old) {
			return did, fmt.Errorf("live value %d could not be removed", i)
		}
		did++
	}
	return did, nil
}

// read keeps values in use, one after the other. It calls ready when it has the first.
func (t *pinTurn) read(ready func()) error {
	defer ready()
	for kept := 0; !t.over.Load(); kept++ {
		i := kept % len(t.names)
		v, release, ok := t.keep(t.names[i].Load())
		if !ok {
			runtime.Gosched() // it was replaced between the two look-ups
			continue
		}
		ready()
		t.sleep()
		// Counting takes time, so only every eighth pin counts.
		if kept%8 == 0 || t.over.Load() {
			t.note()
		}
		changed := v.ID != uint64(i)
		release()
		if changed {
			return fmt.Errorf("value %d changed while it was in use", i)
		}
		t.sleep()
	}
	return nil
}

// sleep waits for a pause, or until the window ends.
func (t *pinTurn) sleep() {
	for until := time.Now().Add(t.pause); !t.over.Load() && time.Now().Before(until); {
		time.Sleep(min(time.Until(until), time.Millisecond))
	}
}

// note updates the maxima of limbo and memory.
func (t *pinTurn) note() {
	if t.limbo != nil {
		slots, bytes := t.limbo()
		figures := t.run.figures
		figures["limbo-slots"] = max(figures["limbo-slots"], float64(slots))
		figures["pool-B"] = max(figures["pool-B"], float64(bytes))
	}
}

// poolPins is the pool. Its writer may be a Worker, and its reader keeps a guard or a Ref.
func poolPins(worker, hold bool) (s pinStore) {
	// The default MaxLimbo is for guards that were forgotten. This one is not.
	p := pool.Must(&pool.Options[pinValue]{MaxLimbo: pool.MaxCapacity})
	insert, remove := p.Insert, p.Remove
	s.end = p.Len
	if worker {
		w := p.Worker()
		insert, remove = w.Insert, w.Remove
		s.end = func() int {
			w.Close()
			return p.Len()
		}
	}
	s.put = func(id uint64) (uint64, error) {
		h, err := insert(pinValue{ID: id})
		return uint64(h), err
	}
	s.drop = func(name uint64) bool { return remove(pinHandle(name)) }
	s.keep = func(name uint64) (*pinValue, func(), bool) {
		guard := p.Pin()
		v, ok := guard.Get(pinHandle(name))
		if !ok {
			guard.Unpin()
		}
		return v, guard.Unpin, ok
	}
	if hold {
		s.keep = func(name uint64) (*pinValue, func(), bool) {
			ref, ok := p.Hold(pinHandle(name))
			if !ok {
				return nil, nil, false
			}
			return ref.Value(), ref.Release, true
		}
	}
	s.limbo = func() (int, int64) {
		stats := p.Stats()
		return stats.Limbo, stats.Bytes
	}
	return s
}

// lockedPins is a map whose reader holds the read lock.
func lockedPins() pinStore {
	var mu sync.RWMutex
	values := make(map[uint64]*pinValue)
	last := uint64(0)
	return pinStore{
		put: func(id uint64) (uint64, error) {
			v := &pinValue{ID: id}
			mu.Lock()
			defer mu.Unlock()
			last++
			values[last] = v
			return last, nil
		},
		drop: func(name uint64) bool {
			mu.Lock()
			defer mu.Unlock()
			_, ok := values[name]
			delete(values, name)
			return ok
		},
		keep: func(name uint64) (*pinValue, func(), bool) {
			mu.RLock()
			v, ok := values[name]
			if !ok {
				mu.RUnlock()
			}
			return v, mu.RUnlock, ok
		},
		end: func() int { return len(values) }, // nothing else runs
	}
}
