package workload

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/turns"
	"coatcheck/pool/pending"
)

// calls has requests that wait for answers. Each goroutine has its share of the outstanding
// ones. It answers the oldest, the newest or any, waits for the answer, and starts another. So
// no goroutine switches to another, which would cost more than the table. No call is late: a
// deadline costs the same everywhere, unless its timer is used again.
func calls() suite.Question {
	return suite.Question{
		ID:     "Calls",
		Title:  "Wait for an answer",
		Charts: []suite.Chart{{Unit: "ns/op"}},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, goroutines := range doublings(4*env.Procs, env) {
				each := sizesOf(env, 100_000)[0] / goroutines
				for _, u := range []callUse{{goroutines, 1, "only"}, {goroutines, each, "oldest"}, {goroutines, each, "newest"}, {goroutines, each, "any"}} {
					groups = append(groups, suite.Group{Cases: []suite.Case{
						callsCase(peer.NamePool, u, pendingCalls),
						callsCase(peer.NameMutex, u, mutexCalls),
						callsCase(peer.NameSyncMap, u, syncMapCalls),
					}})
				}
			}
			return groups
		},
	}
}

// callUse is how a table is used.
type callUse struct {
	goroutines, each int    // how many goroutines have how many calls each
	answered         string // which of them is answered
}

// picks returns the places of the calls to be answered, for one goroutine.
func (u callUse) picks(g int) []uint32 {
	order := make([]uint32, u.each)
	switch u.answered {
	case "oldest":
		for i := range order {
			order[i] = uint32(i)
		}
	case "any":
		order = draw(g, many(u.each), u.each)
	}
	return order // "newest" and "only": the first, again and again
}

// callTable is a table of calls C.
type callTable[C any] struct {
	start   func() (id uint64, call C)
	deliver func(id, v uint64) bool
	wait    func(call C) uint64
}

func callsCase[C any](impl string, u callUse, open func() callTable[C]) suite.Case {
	params := []suite.Param{number("outstanding", u.each*u.goroutines), {Key: "answered", Value: u.answered}}
	return suite.Case{Impl: impl, Params: params, Goroutines: u.goroutines, Open: func() suite.Run {
		table, works := open(), turns.Crew{}
		for g := range u.goroutines {
			works = append(works, table.caller(u.each, u.picks(g)))
		}
		return suite.Run{Do: works.Do}
	}}
}

// caller returns the work of one goroutine.
func (t callTable[C]) caller(each int, order []uint32) turns.Work {
	ids, outstanding := make([]uint64, each), make([]C, each)
	for i := range each {
		ids[i], outstanding[i] = t.start()
	}
	picks, serial := &cycle{all: order}, uint64(1<<20)
	return func(n int) (int, error) {
		return picks.each(n, func(some []uint32) error {
			for _, i := range some {
				serial++
				if !t.deliver(ids[i], serial) {
					return fmt.Errorf("the answer of %#x was refused", ids[i])
				}
				if v := t.wait(outstanding[i]); v != serial {
					return fmt.Errorf("the answer of %#x is %d, want %d", ids[i], v, serial)
				}
				ids[i], outstanding[i] = t.start()
			}
			return nil
		})
	}
}

func pendingCalls() callTable[pending.Call[uint64]] {
	c, ctx := pending.Must[uint64](nil), context.Background()
	return callTable[pending.Call[uint64]]{
		start: func() (uint64, pending.Call[uint64]) {
			call, err := c.Start()
			if err != nil {
				panic(err)
			}
			return call.ID(), call
		},
		deliver: c.Deliver,
		wait: func(call pending.Call[uint64]) uint64 {
			v, _ := call.Wait(ctx) // an error has the value 0, which is no answer
			return v
		},
	}
}

// mapCalls is a map from ids to channels, as well as it can be used by hand: channels are used
// again.
func mapCalls(insert func(ch chan uint64) (id uint64), remove func(id uint64) (chan uint64, bool)) callTable[chan uint64] {
	chans := sync.Pool{New: func() any { return make(chan uint64, 1) }}
	return callTable[chan uint64]{
		start: func() (uint64, chan uint64) {
			ch := chans.Get().(chan uint64)
			return insert(ch), ch
		},
		deliver: func(id, v uint64) bool {
			ch, ok := remove(id)
			if ok {
				ch <- v
			}
			return ok
		},
		wait: func(ch chan uint64) (v uint64) {
			select { // as all have to: until an answer comes or the context is done
			case v = <-ch:
			case <-context.Background().Done():
			}
			chans.Put(ch)
			return v
		},
	}
}

func mutexCalls() callTable[chan uint64] {
	var mu sync.Mutex
	var last uint64
	waiting := map[uint64]chan uint64{}
	return mapCalls(func(ch chan uint64) uint64 {
		mu.Lock()
		last++
		id := last
		waiting[id] = ch
		mu.Unlock()
		return id
	}, func(id uint64) (chan uint64, bool) {
		mu.Lock()
		ch, ok := waiting[id]
		delete(waiting, id)
		mu.Unlock()
		return ch, ok
	})
}

func syncMapCalls() callTable[chan uint64] {
	var waiting sync.Map
	var last atomic.Uint64
	return mapCalls(func(ch chan uint64) uint64 {
		id := last.Add(1)
		waiting.Store(id, ch)
		return id
	}, func(id uint64) (chan uint64, bool) {
		ch, ok := waiting.LoadAndDelete(id)
		if !ok {
			return nil, false
		}
		return ch.(chan uint64), true
	})
}
