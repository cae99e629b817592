package workload

import (
	"fmt"
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
		About: "One goroutine replaces 64 values of 64 bytes in turn for a tenth of a second. Another keeps a value in use for the time that pin says, then rests as long, and so on; turn is the whole time. " +
			"pool and worker keep the value by a guard, hold by a Ref of that value alone. rwmutex is a map whose reader holds the read lock, so that the writer waits: the alternative if the value must not be copied. " +
			"It has no line for turn, in which it would do nothing. limbo-slots is the most slots that waited for the reader.",
		Charts: []suite.Chart{
			{Title: "Replacements beside a reader that takes long", Unit: "ns/op"},
			{Title: "Removed slots that wait for the reader, at most", Unit: "limbo-slots"},
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

// pinStore is the store of the two goroutines, as functions.
type pinStore struct {
	put   func(id uint64) (name uint64)
	drop  func(name uint64) (ok bool)
	keep  func() (release func()) // by the reader
	limbo func() int              // how many slots wait
	end   func() (live int)
}

// openPins returns a run whose Do opens a store and uses it for a window.
func openPins(impl string, window, pause time.Duration) suite.Run {
	r := &meteredRun{figures: map[string]float64{}}
	r.do = func(int) (did int, err error) {
		s := lockedPins()
		if impl != locking {
			s = poolPins(impl)
		}
		var names [64]uint64
		for i := range names {
			names[i] = s.put(uint64(i))
		}
		var over atomic.Bool
		read := make(chan int)
		release := func() {}
		if pause > 0 {
			release = s.keep()
		}
		go func() { read <- s.read(pause, release, &over) }()
		timer := time.AfterFunc(window, func() { over.Store(true) })
		// A replacement that waits for the lock may take the rest of the window.
		r.timed(func() {
			for ; err == nil && (did == 0 || !over.Load()); did++ {
				old := &names[did%len(names)]
				name := s.put(uint64(did))
				if !s.drop(*old) {
					err = fmt.Errorf("live value %#x could not be removed", *old)
				}
				*old = name
			}
		})
		timer.Stop()
		over.Store(true)
		if most := <-read; impl != locking && pause > 0 {
			r.figures["limbo-slots"] = float64(most)
		}
		for _, name := range names {
			if !s.drop(name) && err == nil {
				err = fmt.Errorf("live value %#x could not be removed", name)
			}
		}
		if live := s.end(); live != 0 && err == nil {
			err = fmt.Errorf("%d values are live at the end", live)
		}
		return did, err
	}
	return r
}

// read keeps a value and rests, in turns, and returns the most slots that waited meanwhile. It
// begins with a value that is kept, unless the pause is 0.
func (s *pinStore) read(pause time.Duration, release func(), over *atomic.Bool) (most int) {
	sleep := func() {
		for until := time.Now().Add(pause); !over.Load() && time.Now().Before(until); {
			time.Sleep(min(time.Until(until), time.Millisecond))
		}
	}
	for n := 0; ; n++ {
		sleep()
		if n%8 == 0 || over.Load() { // counting takes time
			most = max(most, s.limbo())
		}
		release()
		sleep()
		if pause == 0 || over.Load() {
			return most
		}
		release = s.keep()
	}
}

// poolPins is the pool. Its writer may be a Worker, and its reader keeps a guard or a Ref.
func poolPins(impl string) pinStore {
	// The default MaxLimbo is for guards that were forgotten. This one is not.
	p := pool.Must(&pool.Options[pinValue]{MaxLimbo: pool.MaxCapacity})
	insert, remove, end := p.Insert, p.Remove, p.Len
	if impl == peer.NameWorker {
		w := p.Worker()
		insert, remove = w.Insert, w.Remove
		end = func() int { w.Close(); return p.Len() }
	}
	keep := func() func() { g := p.Pin(); return g.Unpin }
	if impl == "hold" {
		keep = func() func() {
			h := must(p.Insert(pinValue{}))
			ref, _ := p.Hold(h)
			p.Remove(h) // its slot waits for the Ref
			return ref.Release
		}
	}
	return pinStore{
		put:   func(id uint64) uint64 { return uint64(must(insert(pinValue{ID: id}))) },
		drop:  func(name uint64) bool { return remove(pool.Handle[pinValue](name)) },
		keep:  keep,
		limbo: func() int { return p.Stats().Limbo },
		end:   end,
	}
}

// lockedPins is a map whose reader holds the read lock.
func lockedPins() pinStore {
	var mu sync.RWMutex
	values := make(map[uint64]*pinValue)
	last := uint64(0)
	return pinStore{
		put: func(id uint64) uint64 {
			v := &pinValue{ID: id}
			mu.Lock()
			defer mu.Unlock()
			last++
			values[last] = v
			return last
		},
		drop: func(name uint64) bool {
			mu.Lock()
			defer mu.Unlock()
			_, ok := values[name]
			delete(values, name)
			return ok
		},
		keep:  func() func() { mu.RLock(); return mu.RUnlock },
		limbo: func() int { return 0 },
		end:   func() int { return len(values) }, // nothing else runs
	}
}
