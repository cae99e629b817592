//go:build interleave

package dense

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
)

// scenario is a phase: what happens before its threads begin, and the calls of each.
//
//	Create a; CreateFunc b; Fail; Kill a; Pointer b; State b; Pointer b+; Refresh; Values b, and others in looks
//
// Fail is a CreateFunc whose init panics. b+ is the handle that b's slot has one life later. A name without a handle, because its
// Create was refused or has not returned, is passed over. A Refresh that overlaps other
// calls is a bug of the caller, which must be noticed: by a panic of either.
type scenario struct {
	name           string
	capacity, room int // room for that many values; chunks begin with two
	unordered      bool
	before         string
	threads        []string
}

var scenarios = []scenario{
	{name: "two creators grow into chunks", room: 1,
		threads: []string{"Create a; Pointer a; Create b; Pointer b", "Create c; Pointer c; Create d; Pointer d"}},
	{name: "three creators and one chunk", room: 0,
		threads: []string{"Create a; Pointer a", "Create b; Pointer b", "Create c; Pointer c"}},
	{name: "creators at the limit", capacity: 3, room: 3, before: "Create a; Refresh",
		threads: []string{"Create b; Create c", "Create d; Create e", "Create f; Create g"}},
	{name: "creators take slots that wait, and then new ones", before: "Create a; Create b; Create c; Refresh; Kill a; Kill b; Refresh",
		threads: []string{"Create d; Pointer d; Create e; Pointer e", "Create f; Pointer f; Pointer a"}},
	{name: "two killers of one value", before: "Create a; Create b; Create c; Refresh",
		threads: []string{"Kill b; Kill c", "Kill b; Kill c"}},
	// a and b have neighbouring words of marks, with one word above.
	{name: "killers of values far apart", room: 80, before: "Create a; " + strings.Repeat("Create c; ", 64) + "Create b; Refresh",
		threads: []string{"Kill a; Kill b", "Kill b; Kill c"}},
	{name: "a killer and a reader", before: "Create a; Create b; Refresh",
		threads: []string{"Kill a", "State a; Pointer a; State a; Pointer a; State a; Pointer a"}},
	// The others close up, so the slot of a has another position next.
	{name: "a slot is reused, looked up by its old handle and by a guess at its next", before: "Create a; Create b; Create c; Refresh; Kill a; Refresh",
		threads: []string{"Create d", "Pointer a; Pointer a+; Pointer a+", "Kill a; Pointer b"}},
	{name: "a value is built in its place, beside a creator and a guess at its handle", before: "Create a; Create b; Create c; Refresh; Kill a; Kill b; Refresh",
		threads: []string{"CreateFunc d; Pointer d", "Create e; Pointer e", "Pointer a+; Pointer a+"}},
	{name: "two inits panic, beside a creator", before: "Create a; Create b; Create c; Refresh; Kill a; Kill b; Refresh",
		threads: []string{"Fail", "Fail; Pointer a+", "CreateFunc d; Pointer d"}},
	{name: "Refresh over look-ups", before: "Create a; Create b; Create c; Refresh; Kill a",
		threads: []string{"Pointer b; Pointer c", "Refresh"}},
	// Refresh moves the last value to a position without a mark.
	{name: "Refresh over a killer", before: "Create a; Create b; Create c; Refresh; Kill a",
		threads: []string{"Kill c", "Refresh"}},
	// It finds fewer values for its gaps than it has counted.
	{name: "Refresh over a killer of what fills a gap", unordered: true, before: "Create a; Create b; Create c; Refresh; Kill a",
		threads: []string{"Kill c", "Refresh"}},
	{name: "Refresh over a killer of what it destroys", before: "Create a; Refresh; Kill a",
		threads: []string{"Kill a", "Refresh"}},
	{name: "Refresh over a creator that needs a chunk", room: 1, before: "Create a; Refresh; Kill a; Create b",
		threads: []string{"Create c", "Refresh"}},
	{name: "Refresh over a creator at the limit", capacity: 1, before: "Create a; Refresh",
		threads: []string{"Create b", "Refresh"}},
	// One claims too much, and takes that back after the Refresh.
	{name: "Refresh over two creators at the limit", capacity: 2, before: "Create a; Refresh; Kill a",
		threads: []string{"Create b", "Create c", "Refresh"}},
	{name: "Refresh over a creator in place at the limit", capacity: 1, before: "Create a; Refresh",
		threads: []string{"CreateFunc b", "Refresh"}},
	{name: "Refresh over a value that is built in its place", before: "Create a; Refresh",
		threads: []string{"CreateFunc b", "Refresh"}},
	{name: "two Refreshes", before: "Create a; Create b; Create c; Refresh; Kill b; Create d",
		threads: []string{"Refresh", "Refresh"}},
}

// setup makes a run. It counts the runs in which no overlap was noticed, and those in which a call noticed it
// at its beginning, and at its end.
func (s scenario) setup(noticed map[string]int) interleave.Setup {
	return func(r *interleave.Run) {
		w := newWorld(r)
		w.begin(Options[val]{Capacity: s.capacity, Unordered: s.unordered}, s.room)
		w.do(nil, s.before)
		for _, text := range s.threads {
			w.refreshers += strings.Count(text, "Refresh")
			w.callers += strings.Count(text, " ")
			w.thread(func(t *interleave.Thread) { w.do(t, text) })
		}
		r.Finally(func() error {
			switch {
			case w.late > 0:
				noticed["late"]++
			case w.noticed > 0:
				noticed["at once"]++
			default:
				noticed["never"]++
			}
			return w.finally()
		})
	}
}

// These tests run the exported methods under all schedules with a few preemptions:
//
//	go test -tags interleave -run Interleave -v ./pool/dense -interleave.bound 3
//
// A failure prints the interleaving.
func TestInterleave(t *testing.T) {
	all := slices.Clone(scenarios)
	for _, verb := range append(slices.Sorted(maps.Keys(looks)), "Kill", "Pointer", "State") {
		all = append(all, scenario{name: "Refresh over one " + verb, before: "Create a; Create b; Create c; Refresh; Kill a",
			threads: []string{verb + " b", "Refresh"}})
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			noticed := map[string]int{}
			testkit.Explore(t, s.setup(noticed), false)
			if strings.HasPrefix(s.name, "Refresh over") && len(noticed) != 3 {
				t.Fatalf("runs in which an overlap was noticed: %v; want some late, at once, and never", noticed)
			}
		})
	}
}
