// Package linearize judges histories of the pool with porcupine: it checks whether all results
// together can be explained by operations that take effect one after the other, each between
// its call and its return. It is a module of its own, so that the pool does not depend on the
// checker.
//
//	go test .                                                   # 1,000 histories of some 2,000 operations
//	go test -v -run Linearizable -histories 100000 -timeout 0 . # the long run
//
// A history is a storm (internal/check/storm) in which each call is recorded, with its result
// and two times from one counter (record_test.go). It is split by handle. The records of each must
// have an order that the sequential specification allows (internal/check/verbs/life.go). Batches
// and loops are split into records of each handle: a handle that Drain did not yield was not live
// at some moment of that Drain. What concerns several handles, the storm counts.
//
// Refusals of insertions, and the counts of Clear and DeleteFunc, are no part of a handle's life.
// The counter of the times orders the threads, so the race detector finds less here than in
// storms, and it may hide an order that only weak memory would show: DESIGN.md tells what holds
// without such an instruction.
package linearize

import (
	"flag"
	"iter"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/storm"
	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
	"coatcheck/shard/slots"
)

var historiesFlag = flag.Int("histories", 0, "number of histories, spread evenly over all setups; 0: 1,000, 100 in -short")

// setups are the pools whose histories are judged.
var setups = []storm.Setup{
	{Name: "plain", Options: storm.Options{Capacity: 64}},
	{Name: "unlimited", Options: storm.Options{Shards: 2}, Workers: 4},
	{Name: "one slot", Options: storm.Options{Capacity: 1}, Shown: 1},
	{Name: "two slots", Options: storm.Options{Capacity: 2, Shards: 1}, Workers: 4},
	{Name: "tiny shards", Options: storm.Options{Capacity: 8, Shards: 4, Preallocate: true}},
	{Name: "Workers", Options: storm.Options{Capacity: 128, Shards: 2}, Workers: 4, Shown: 16},
	{Name: "swept", Options: storm.Options{Capacity: 16, Shards: 2}, Unowned: true},
	{Name: "few lives", Options: storm.Options{Capacity: 32, Shards: 2, Origin: fewLives}, Workers: 2},
	{Name: "FIFO", Options: storm.Options{Capacity: 4, Shards: 2, Reuse: pool.FIFO}},
	{Name: "FIFO, few lives", Options: storm.Options{Capacity: 32, Shards: 2, Reuse: pool.FIFO, Origin: fewLives}},
	{Name: "FIFO, swept", Options: storm.Options{Capacity: 16, Shards: 2, Reuse: pool.FIFO}, Workers: 4, Unowned: true},
}

// fewLives is the first generation of slots that have four lives.
const fewLives = slots.LastGeneration - 2*(4-1)

// run makes a history of a storm on a pool. It also returns the storm's world and error.
func run(t *testing.T, set storm.Setup, wrap func(subject) subject) (*history, *storm.World[value], error) {
	set.Hands, set.Slots = 8, 1<<12
	w := storm.Raise[value](t, set, storm.Bulkies, nil)
	w.Pool = wrap(w.Pool)
	h := newHistory()
	w.Judge = h.recorder(w)
	w.Crew(set, h.step)
	least := storm.Least{storm.Inserted: 200}
	if set.Origin != 0 {
		least = storm.Least{storm.Inserted: 400} // slots are exhausted, and replaced
	}
	return h, w, w.Try(0, least)
}

func itself(p subject) subject { return p }

func TestLinearizable(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // pools of large values come and go
	each := (*historiesFlag + len(setups) - 1) / len(setups)
	switch {
	case each > 0:
	case testing.Short():
		each = 9
	default:
		each = 90
	}
	lives, operations := 0, 0
	var effects [verbs.Effects]int
	for _, set := range setups {
		t.Run(set.Name, func(t *testing.T) {
			for range each {
				h, w, err := run(t, set, itself)
				require.NoError(t, err)
				w.Finish()
				for _, records := range h.lives() {
					require.NoError(t, explain(records))
					lives++
				}
				operations += len(h.records)
				for _, r := range h.records {
					effects[r.Effect]++
				}
			}
		})
	}
	t.Logf("%d histories, %d lives, %d operations", each*len(setups), lives, operations)
	assert.NotContains(t, effects, 0, "an effect is missing")
}

// The pools below are wrong on purpose. Each has a bug that a pool may well have, and no data
// race.

// twice removes by a load and a store, so two removers may both succeed.
type twice struct{ subject }

func (p twice) Remove(h handle) bool {
	live := p.Contains(h)
	runtime.Gosched()
	p.subject.Remove(h)
	return live
}

// skips leaves the first value out of loops.
type skips struct{ subject }

func (p skips) All() iter.Seq2[handle, *value] {
	return func(yield func(handle, *value) bool) {
		first := true
		for h, v := range p.subject.All() {
			if !first && !yield(h, v) {
				return
			}
			first = false
		}
	}
}

// spares does not clear the first value.
type spares struct{ subject }

func (p spares) Clear() int {
	first := true
	return p.DeleteFunc(func(handle, *value) bool {
		defer func() { first = false }()
		return !first
	})
}

// strays points to a value that nobody has inserted.
type strays struct{ subject }

func (p strays) Pointer(h handle) (*value, bool) {
	v, ok := p.subject.Pointer(h)
	if ok {
		other := storm.Bulkies.Make(1)
		v = &other
	}
	return v, ok
}

// TestWrongPoolsAreRefuted is a control. twice is refuted only if two removals of a handle meet,
// and strays only by an actor that owns a value.
func TestWrongPoolsAreRefuted(t *testing.T) {
	set := storm.Setup{Options: storm.Options{Capacity: 16, Shards: 2}, Unowned: true}
	for name, wrap := range map[string]func(subject) subject{
		"twice":  func(p subject) subject { return twice{p} },
		"skips":  func(p subject) subject { return skips{p} },
		"spares": func(p subject) subject { return spares{p} },
		"strays": func(p subject) subject { return strays{p} },
	} {
		t.Run(name, func(t *testing.T) {
			set := set
			set.Unowned = name != "strays"
			for n := 1; n <= 1000; n++ {
				h, _, _ := run(t, set, wrap) // the storm may find it too
				for _, records := range h.lives() {
					if err := explain(records); err != nil {
						t.Logf("history %d: %v", n, err)
						return
					}
				}
			}
			t.Fatal("it has an explanation: trust none")
		})
	}
}

// did is an operation of a thread of its own.
func did(e verbs.Effect, ok bool, call, ret int64) record {
	return record{handle: 1<<32 | 7, Report: verbs.Report{Effect: e, OK: ok, Value: 1}, call: call, ret: ret}
}

// TestTimesDecide judges lives beside a loop that met nothing, from 10 to 20.
func TestTimesDecide(t *testing.T) {
	for _, c := range []struct {
		name        string
		effect      verbs.Effect // of the loop
		explainable bool
		life        []record
	}{
		{"live all the time", verbs.Look, false, []record{did(verbs.Insert, true, 1, 2)}},
		{"came meanwhile", verbs.Look, true, []record{did(verbs.Insert, true, 9, 12)}},
		{"came after the call", verbs.Look, true, []record{did(verbs.Insert, true, 11, 12)}},
		{"went meanwhile", verbs.Look, true, []record{did(verbs.Insert, true, 1, 2), did(verbs.Remove, true, 19, 25)}},
		{"went after the return", verbs.Look, false, []record{did(verbs.Insert, true, 1, 2), did(verbs.Remove, true, 21, 25)}},
		{"had gone", verbs.Look, true, []record{did(verbs.Insert, true, 1, 2), did(verbs.Remove, true, 3, 4)}},
		{"was reserved", verbs.Look, true, []record{did(verbs.Reserve, true, 1, 2), did(verbs.Commit, true, 21, 22)}},
		{"was given up", verbs.Look, false, []record{did(verbs.Reserve, true, 1, 2), did(verbs.Cancel, true, 3, 4), did(verbs.Look, true, 5, 6)}},
		{"two won", verbs.Look, false, []record{did(verbs.Insert, true, 1, 2), did(verbs.Remove, true, 3, 5), did(verbs.Take, true, 4, 6)}},
		{"the loser had returned", verbs.Look, false, []record{did(verbs.Insert, true, 1, 2), did(verbs.Remove, false, 3, 4), did(verbs.Remove, true, 5, 6)}},
		{"the loser was beside", verbs.Look, true, []record{did(verbs.Insert, true, 1, 2), did(verbs.Remove, false, 3, 5), did(verbs.Remove, true, 4, 6)}},
		{"cleared and gone", verbs.Sweep, true, []record{did(verbs.Insert, true, 1, 2), did(verbs.Look, false, 21, 22)}},
		{"cleared and left", verbs.Sweep, false, []record{did(verbs.Insert, true, 1, 2), did(verbs.Look, true, 21, 22)}},
		{"cleared while it came, and left", verbs.Sweep, true, []record{did(verbs.Insert, true, 19, 25), did(verbs.Look, true, 26, 27)}},
		{"gone, but cleared before it came", verbs.Sweep, false, []record{did(verbs.Insert, true, 21, 25), did(verbs.Look, false, 26, 27)}},
	} {
		h := newHistory()
		loop := span{record: record{thread: 9, Report: verbs.Report{Effect: c.effect}, call: 10, ret: 20}}
		h.logs = []*log{{c.life, []span{loop}}}
		for i := range c.life {
			c.life[i].thread = i
		}
		assert.Equal(t, c.explainable, explain(h.lives()[1<<32|7]) == nil, c.name)
	}
}
