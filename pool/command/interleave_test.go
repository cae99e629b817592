//go:build interleave

package command

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// scenario is a small program to be explored. Its texts are calls of an actor:
//
//	h = insert 0; remove 1 h; apply 0 1
//
// records an insertion in buffer 0 and its removal in buffer 1, and applies both.
type scenario struct {
	name     string
	buffers  int
	capacity int
	reset    string   // what the pool's Reset does, until there are six values
	before   string   // what is done before the threads begin
	threads  []string // with one thread, its steps are checked
	want     string   // what must happen, if only one order is right
	drops    bool     // a Discard may overlap any call
}

func (s scenario) setup(w *world) {
	known := map[string]handle{}
	w.want, w.drops = strings.Fields(s.want), s.drops
	o := pool.Options[val]{Capacity: s.capacity}
	if s.reset != "" {
		o.Reset = func(v *val) {
			*v = val{}
			if w.serial < 6 {
				(&actor{w, nil}).do(s.reset, known) // during an operation
			}
		}
	}
	w.pool(o, s.buffers).do(s.before, known)
	for _, text := range s.threads {
		w.thread(func(a *actor) { a.do(text, known) })
	}
}

// do makes the calls of a text. Those of one run share what is known of handles.
func (a *actor) do(text string, known map[string]handle) {
	for _, call := range strings.Split(text, "; ") {
		to, expr, assigns := strings.Cut(call, " = ")
		if !assigns {
			to, expr = "", to
		}
		words := strings.Fields(expr)
		if len(words) == 0 {
			continue
		}
		var buffers []int
		var hs []handle
		for _, word := range words[1:] {
			if i, err := strconv.Atoi(word); err == nil {
				buffers = append(buffers, i)
			} else {
				hs = append(hs, known[word])
			}
		}
		switch words[0] {
		case "put":
			known[to] = a.put()
		case "insert":
			known[to] = a.insert(buffers[0])
		case "insertValue":
			a.insertValue(buffers[0])
		case "remove":
			a.remove(buffers[0], hs[0])
		case "apply":
			a.apply(buffers...)
		case "discard":
			a.discard(buffers[0])
		case "removeNow":
			a.removeNow(hs[0])
		case "loop":
			a.loop(buffers[0])
		case "read":
			a.read(hs...)
		default:
			panic(fmt.Sprintf("no verb in %q", call))
		}
	}
}

var scenarios = []scenario{
	{name: "the stated order", buffers: 3,
		before:  "a = put; b = insert 2; c = insert 0; remove 1 b; remove 0 a; d = insert 2; e = insert 1; remove 2 c; remove 2 a; f = put; remove 1 f",
		threads: []string{"apply 1 2 0"}, want: "+e +b +d +c -b -f -c -a"},
	{name: "two recorders share a buffer", buffers: 1, before: "old = put",
		threads: []string{"h = insert 0; remove 0 h; insert 0", "insert 0; remove 0 old"}},
	{name: "a recorder against Apply", buffers: 1, before: "h = insert 0; remove 0 h",
		threads: []string{"k = insert 0; remove 0 k; insert 0", "apply 0"}},
	{name: "a recorder in two buffers against Apply", buffers: 2,
		threads: []string{"h = insert 0; remove 1 h; k = insert 1; remove 0 k", "apply 0 1"}},
	{name: "two recorders of each other's insertions against Apply", buffers: 2,
		threads: []string{"h = insert 0", "remove 1 h", "apply 1 0"}},
	{name: "Apply against Apply, in the other order", buffers: 2, before: "h = insert 0; remove 1 h; k = insert 1; remove 0 k",
		threads: []string{"apply 0 1", "apply 1 0"}},
	{name: "a recorder between two Applys", buffers: 2,
		threads: []string{"h = insert 0; remove 1 h", "apply 0 1", "apply 1 0"}},
	{name: "Applys that have one buffer in common", buffers: 3, before: "h = insert 1; remove 2 h; remove 0 h",
		threads: []string{"apply 2 1", "apply 1 0", "remove 1 h"}},
	{name: "a reader against Apply", buffers: 2, before: "old = put; h = insert 0; k = insert 1; remove 0 old; remove 1 k",
		threads: []string{"read h k old", "apply 0 1; insert 0"}},
	{name: "others remove what Apply inserts and removes", buffers: 1, before: "old = put; h = insert 0; remove 0 h; remove 0 old",
		threads: []string{"removeNow h; removeNow old; removeNow h", "apply 0"}},
	{name: "two frames remove the same", buffers: 2, before: "old = put; remove 0 old; remove 1 old",
		threads: []string{"apply 0", "apply 1"}},
	{name: "Discard against Apply and a recorder", buffers: 2, before: "h = insert 0; remove 0 h",
		threads: []string{"insert 1", "discard 0", "apply 1 0"}},
	{name: "Discard against Discard", buffers: 1, before: "insert 0; insert 0",
		threads: []string{"discard 0", "discard 0"}},
	{name: "a full pool against Apply", buffers: 1, capacity: 2, before: "old = put; insert 0; remove 0 old",
		threads: []string{"insert 0; insert 0", "apply 0"}},
	{name: "a Reset records and applies", buffers: 1, reset: "insert 0; apply 0",
		before:  "a = insert 0; remove 0 a; b = insert 0; remove 0 b; c = insert 0; remove 0 c",
		threads: []string{"apply 0", "apply 0; insert 0"}},
	{name: "a loop over what is recorded while others apply", buffers: 1, before: "insert 0; insert 0",
		threads: []string{"apply 0", "loop 0"}},
	{name: "loops over what is recorded while others record", buffers: 1, before: "h = insert 0; remove 0 h",
		threads: []string{"insertValue 0; remove 0 h; insert 0", "loop 0"}},
}

// These tests run the exported methods of this package, on a real pool, under all
// schedules with a few preemptions:
//
//	go test -tags interleave -run Interleave -v ./pool/command -interleave.bound 2
//
// A failure prints the interleaving and its schedule, which -interleave.replay
// repeats.
func TestInterleave(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			setup, off := betweenRuns(s)
			defer off()
			testkit.Explore(t, setup, len(s.threads) == 1, testkit.Preemptions(2))
		})
	}
}

func TestInterleaveRepeats(t *testing.T) {
	for _, s := range scenarios {
		setup, off := betweenRuns(s)
		testkit.RunsTwiceTheSame(t, s.name, setup)
		off()
	}
}

// betweenRuns restricts garbage collection to the time between runs, until off is called.
// A collection during a run would add steps: it clears the block that the pool keeps for
// the next insertion.
func betweenRuns(s scenario) (setup func(*interleave.Run), off func()) {
	percent := debug.SetGCPercent(-1)
	n := 0
	return func(r *interleave.Run) {
			if n++; n%500 == 0 { // some megabytes
				runtime.GC()
			}
			s.setup(newWorld(r))
		}, func() {
			debug.SetGCPercent(percent)
		}
}

// draw draws a scenario. A thread may use a handle that another gets, perhaps before it
// has it.
func draw(rnd *rand.Rand) *scenario {
	s := &scenario{name: "generated", buffers: 1 + rnd.IntN(3)}
	handles := 0
	calls := func(n, kinds int) string {
		var all []string
		for range n {
			i, h := rnd.IntN(s.buffers), fmt.Sprint("h", rnd.IntN(max(handles, 1)))
			switch kind := rnd.IntN(kinds); {
			case kind < 3:
				all = append(all, fmt.Sprintf("h%d = insert %d", handles, i))
				handles++
			case kind < 6:
				all = append(all, fmt.Sprintf("remove %d %s", i, h))
			case kind < 9: // all buffers, in any order
				all = append(all, "apply "+strings.Trim(fmt.Sprint(rnd.Perm(s.buffers)), "[]"))
			case kind == 9:
				all = append(all, fmt.Sprintf("discard %d", i))
				s.drops = true
			case kind == 10:
				all = append(all, "removeNow "+h)
			default:
				all = append(all, "read "+h)
			}
		}
		return strings.Join(all, "; ")
	}
	for ; handles < 2 && rnd.IntN(2) == 0; handles++ {
		s.before += fmt.Sprintf("h%d = put; ", handles)
	}
	s.before += calls(rnd.IntN(4), 6) // the results of an Apply are not checked there
	for range 2 + rnd.IntN(2) {
		s.threads = append(s.threads, calls(1+rnd.IntN(3), 12))
	}
	return s
}

// String returns the source of the scenario.
func (s *scenario) String() string {
	return fmt.Sprintf("{name: %q, buffers: %d, drops: %v, before: %q,\n\tthreads: %#v},\n", s.name, s.buffers, s.drops, s.before, s.threads)
}

// TestInterleaveGenerated runs generated scenarios under some schedules each:
//
//	go test -tags interleave -run Generated -v ./pool/command -generate 1m -generate.seed 1
func TestInterleaveGenerated(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // see betweenRuns
	n := 0
	testkit.Draw(t, func(rnd *rand.Rand) (interleave.Setup, fmt.Stringer) {
		if n++; n%10 == 0 {
			runtime.GC()
		}
		s := draw(rnd)
		return func(r *interleave.Run) { s.setup(newWorld(r)) }, s
	}, nil)
}
