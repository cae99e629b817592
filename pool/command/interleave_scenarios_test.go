//go:build interleave

package command

import (
	"fmt"
	"strconv"
	"strings"

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
