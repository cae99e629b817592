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

// pins asks what a reader that takes long costs those who write.
func pins() suite.Question {
	return suite.Question{
		ID:    "Pins",
		Title: "What does it cost those who insert and remove when a reader takes long?",
		About: "One goroutine replaces 64 values of 64 bytes in turn, for a tenth of a second; another looks one of them up and keeps it in use for the time that pin says, then rests as long, and so on; turn is one look-up for all of that time. " +
			"pool and worker keep it by a guard, hold by a Ref of that value alone, rwmutex is a map whose reader holds a read lock, so that who writes has to wait: the honest alternative if the value must not be copied. " +
			"It has no line for turn, in which it would do nothing. Limbo is the most slots that waited for the guard, pool-B the most memory that the pool took.",
		Roles: rolesWith(map[string]suite.Role{"hold": suite.Ours}),
		Charts: []suite.Chart{
			{Title: "Replacements beside a reader that takes long", Unit: "ns/op"},
			{Title: "Removed slots that wait for the reader, at most", Unit: "limbo-slots"},
			{Title: "Memory of the pool beside the reader, at most", Unit: "pool-B"},
		},
		Groups: func(env suite.Env) []suite.Group {
			window := 100 * time.Millisecond
			switch {
			case env.Quick:
				window = 5 * time.Millisecond
			case env.Full:
				window = time.Second
			}
			g := suite.Group{Once: true}
			for _, pin := range []string{"none", "1ms", "10ms", "turn"} {
				for _, impl := range []string{peer.NamePool, peer.NameWorker, "hold", peer.NameRWMutex} {
					if impl == peer.NameRWMutex && pin == "turn" {
						continue
					}
					g.Cases = append(g.Cases, suite.Case{
						Impl:   impl,
						Params: []suite.Param{param("pin", pin)},
						Open:   func() (suite.Run, error) { return openPins(impl, pin, window) },
					})
				}
			}
			return []suite.Group{g}
		},
	}
}

// pinLive is how many values live.
const pinLive = 64

type pinValue = peer.Value[peer.Rest64]
type pinHandle = pool.Handle[pinValue]

// pinStore is what the two goroutines of pins share.
type pinStore interface {
	// writer returns the insertion and the removal of a goroutine, and what ends it.
	writer() (put func(id uint64) (name uint64, err error), drop func(name uint64) bool, end func())
	// keep looks a value up and keeps it until release is called; ok is false if it
	// is gone.
	keep(name uint64) (v *pinValue, release func(), ok bool)
	// limbo tells how many slots wait and how many bytes there are.
	limbo() (slots int, bytes int64)
	len() int
}

// openPins makes the run: each Do is as long as the window, whatever n is, in a
// store of its own.
func openPins(impl, pin string, window time.Duration) (suite.Run, error) {
	pause, err := time.ParseDuration(pin)
	switch pin {
	case "none":
		pause, err = 0, nil
	case "turn":
		pause, err = window, nil
	}
	if err != nil {
		return nil, err
	}
	var watch stopwatch
	r := &meteredRun{timedRun: timedRun{watch: &watch}, figures: map[string]float64{}}
	r.do = func(int) (int, error) {
		store, err := newPinStore(impl)
		if err != nil {
			return 0, err
		}
		d := &pinDuel{store: store, run: r, window: window, pause: pause}
		return d.fight()
	}
	return r, nil
}

func newPinStore(impl string) (pinStore, error) {
	if impl == peer.NameRWMutex {
		return &pinLocked{values: make(map[uint64]*pinValue)}, nil
	}
	// The default answers ErrStalled when a million slots wait, so that a forgotten
	// guard is found. This one is not forgotten.
	p, err := pool.New(&pool.Options[pinValue]{MaxLimbo: pool.MaxCapacity})
	if err != nil {
		return nil, err
	}
	return &pinPool{pool: p, worker: impl == peer.NameWorker, hold: impl == "hold"}, nil
}

// pinDuel is one turn: a writer and a reader.
type pinDuel struct {
	store  pinStore
	run    *meteredRun
	window time.Duration
	pause  time.Duration

	names [pinLive]atomic.Uint64 // of the values, for the reader
	over  atomic.Bool
}

func (d *pinDuel) fight() (did int, err error) {
	put, drop, end := d.store.writer()
	for i := range d.names {
		name, err := put(uint64(i))
		if err != nil {
			return 0, err
		}
		d.names[i].Store(name)
	}
	var reader sync.WaitGroup
	var readerErr error
	if d.pause > 0 {
		ready := make(chan struct{})
		reader.Add(1)
		go func() {
			defer reader.Done()
			readerErr = d.read(ready)
		}()
		<-ready
	}
	timer := time.AfterFunc(d.window, func() { d.over.Store(true) })
	d.run.watch.start()
	did, err = d.write(put, drop)
	d.run.watch.stop()
	timer.Stop()
	d.over.Store(true)
	reader.Wait()
	if d.pause == 0 {
		d.note()
	}
	if err == nil {
		err = readerErr
	}
	for i := range d.names {
		if err == nil && !drop(d.names[i].Load()) {
			err = fmt.Errorf("value %d was gone before it was removed", i)
		}
	}
	end()
	if left := d.store.len(); err == nil && left != 0 {
		err = fmt.Errorf("%d values are left of those that were removed", left)
	}
	return did, err
}

// write replaces values until the time is over.
func (d *pinDuel) write(put func(uint64) (uint64, error), drop func(uint64) bool) (did int, err error) {
	for !d.over.Load() {
		for i := range d.names {
			name, err := put(uint64(i))
			if err != nil {
				return did, err
			}
			if old := d.names[i].Swap(name); !drop(old) {
				return did, fmt.Errorf("value %d was gone before it was removed", i)
			}
			did++
			// A lock that was waited for may have cost the rest of the time.
			if d.over.Load() {
				break
			}
		}
	}
	return did, nil
}

// read keeps one value after the other in use, and closes ready when it has the
// first.
func (d *pinDuel) read(ready chan struct{}) error {
	defer func() {
		if ready != nil {
			close(ready)
		}
	}()
	for kept := 0; !d.over.Load(); kept++ {
		i := kept % pinLive
		v, release, ok := d.store.keep(d.names[i].Load())
		if !ok {
			runtime.Gosched() // it was replaced between the two look-ups
			continue
		}
		if ready != nil {
			close(ready)
			ready = nil
		}
		d.sleep()
		// What waits is counted at every eighth, since counting takes its time.
		if kept%8 == 0 || d.over.Load() {
			d.note()
		}
		changed := v.ID != uint64(i)
		release()
		if changed {
			return fmt.Errorf("value %d changed while it was in use", i)
		}
		d.sleep()
	}
	return nil
}

// sleep waits for a pause, or until the time is over.
func (d *pinDuel) sleep() {
	for until := time.Now().Add(d.pause); !d.over.Load() && time.Now().Before(until); {
		time.Sleep(min(time.Until(until), time.Millisecond))
	}
}

// note notes what waits.
func (d *pinDuel) note() {
	if slots, bytes := d.store.limbo(); bytes > 0 {
		d.run.raise("limbo-slots", float64(slots))
		d.run.raise("pool-B", float64(bytes))
	}
}

// pinPool is the pool, whose reader keeps a guard or a Ref.
type pinPool struct {
	pool         *pool.Pool[pinValue]
	worker, hold bool
}

func (s *pinPool) writer() (func(uint64) (uint64, error), func(uint64) bool, func()) {
	if s.worker {
		w := s.pool.Worker()
		put := func(id uint64) (uint64, error) {
			h, err := w.Insert(pinValue{ID: id})
			return uint64(h), err
		}
		return put, func(name uint64) bool { return w.Remove(pinHandle(name)) }, w.Close
	}
	put := func(id uint64) (uint64, error) {
		h, err := s.pool.Insert(pinValue{ID: id})
		return uint64(h), err
	}
	return put, func(name uint64) bool { return s.pool.Remove(pinHandle(name)) }, func() {}
}

func (s *pinPool) keep(name uint64) (*pinValue, func(), bool) {
	if s.hold {
		ref, ok := s.pool.Hold(pinHandle(name))
		if !ok {
			return nil, nil, false
		}
		return ref.Value(), ref.Release, true
	}
	guard := s.pool.Pin()
	v, ok := guard.Get(pinHandle(name))
	if !ok {
		guard.Unpin()
		return nil, nil, false
	}
	return v, guard.Unpin, true
}

func (s *pinPool) limbo() (int, int64) {
	stats := s.pool.Stats()
	return stats.Limbo, stats.Bytes
}

func (s *pinPool) len() int { return s.pool.Len() }

// pinLocked is a map whose reader holds a read lock.
type pinLocked struct {
	mu     sync.RWMutex
	values map[uint64]*pinValue
	last   uint64
}

func (s *pinLocked) writer() (func(uint64) (uint64, error), func(uint64) bool, func()) {
	put := func(id uint64) (uint64, error) {
		v := &pinValue{ID: id}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.last++
		s.values[s.last] = v
		return s.last, nil
	}
	drop := func(name uint64) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		_, ok := s.values[name]
		delete(s.values, name)
		return ok
	}
	return put, drop, func() {}
}

func (s *pinLocked) keep(name uint64) (*pinValue, func(), bool) {
	s.mu.RLock()
	v, ok := s.values[name]
	if !ok {
		s.mu.RUnlock()
		return nil, nil, false
	}
	return v, s.mu.RUnlock, true
}

func (s *pinLocked) limbo() (int, int64) { return 0, 0 }

func (s *pinLocked) len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.values)
}
