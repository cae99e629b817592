package workload

import (
	"fmt"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// mix looks up and replaces 10,000 values whose names are in shared memory, in an order drawn at
// random beforehand; 95 or 50 of 100 operations are look-ups. A name is stale if another
// goroutine has just replaced its value. Contestants whose names are not words are left out, and
// so are those whose stale names do harm.
func mix() suite.Question {
	return suite.Question{
		ID:     "Mix",
		Title:  "All read and write the same values",
		Charts: []suite.Chart{{Unit: "ns/op"}},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, reads := range []int{95, 50} {
				groups = append(groups, suite.Group{Cases: contests[peer.Rest16](mixing(reads, env.Procs, env))})
			}
			return groups
		},
	}
}

// mixing are the rules by which all goroutines look up and replace the same values.
func mixing(reads, goroutines int, env suite.Env) rules {
	live := sizesOf(env, 10_000)[0]
	params := []suite.Param{value[peer.Rest16](), number("reads", reads)}
	return rules{params: params, live: live, goroutines: goroutines, words: true, plan: func(sessions []peer.Session) (j job) {
		var all []*mixer
		shared := sessions[0].Names(live)
		sessions[0].Fill(shared, base(len(sessions)))
		for g, s := range sessions {
			w := &mixer{session: s, shared: shared, first: base(g), next: base(g)}
			w.ops.all = draw(g, 1<<16, live)
			writes := draw(1<<16+g, len(w.ops.all), 100)
			for i, place := range w.ops.all {
				w.ops.all[i] = place << 1
				if int(writes[i]) >= reads {
					w.ops.all[i] |= 1
				}
			}
			all = append(all, w)
			j.works = append(j.works, w.work)
		}
		j.checks, j.left = []func() error{func() error { return mixed(all) }}, live
		return j
	}}
}

// mixed looks up the value in each place after the last operation. Its identity tells which
// operation of which mixer stored it, and that must be a replacement in that place.
func mixed(all []*mixer) error {
	for place := range all[0].shared.Len() {
		id, ok := all[0].session.Look(all[0].shared, place)
		if !ok {
			return fmt.Errorf("the name in place %d is stale", place)
		}
		if id == base(len(all))+uint64(place) {
			continue
		}
		if g := id/base(0) - 1; g >= uint64(len(all)) || !all[g].stored(id, place) {
			return fmt.Errorf("place %d has value %#x, which was not stored there", place, id)
		}
	}
	return nil
}

// mixer is one goroutine that looks up and replaces.
type mixer struct {
	session     peer.Session
	shared      peer.Names
	ops         cycle
	first, next uint64 // identities: of the first operation, and of the next
}

func (w *mixer) work(n int) (int, error) {
	return w.ops.each(n, func(ops []uint32) error {
		if failed := w.session.Mix(w.shared, ops, w.next); failed > 0 {
			return fmt.Errorf("%d removals were refused, although no other goroutine had those names", failed)
		}
		w.next += uint64(len(ops))
		return nil
	})
}

// stored reports whether the mixer stored that value in that place.
func (w *mixer) stored(id uint64, place int) bool {
	return id >= w.first && id < w.next && w.ops.all[(id-w.first)%uint64(len(w.ops.all))] == uint32(place)<<1|1
}
