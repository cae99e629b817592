package workload

import (
	"fmt"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

func mix() suite.Question {
	return suite.Question{
		ID:    "Mix",
		Title: "What does an operation cost when all read and write the same values?",
		About: "All goroutines look up and replace 10,000 values whose names are in shared memory, in an order drawn at random beforehand; 95 or 50 of 100 operations are look-ups. " +
			"A name is stale if another goroutine has just replaced its value; 'stale/op' counts these look-ups. Contestants whose names are not words are left out, and so are those whose stale names do harm.",
		Roles: rolesWith(),
		Charts: []suite.Chart{
			{Unit: "ns/op"},
		},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, reads := range []int{95, 50} {
				params := []suite.Param{value[peer.Rest16](), number("reads", reads)}
				groups = append(groups, suite.Group{Cases: mixCases(params, reads, env.Procs, env)})
			}
			return groups
		},
	}
}

func mixCases(params []suite.Param, reads, goroutines int, env suite.Env) (cases []suite.Case) {
	for _, p := range peer.All[peer.Rest16]() {
		if p.Keys && may(&p.About, goroutines) {
			cases = append(cases, mixCase(p, params, reads, goroutines, env))
		}
	}
	return cases
}

func mixCase(p peer.Peer[peer.Rest16], params []suite.Param, reads, goroutines int, env suite.Env) suite.Case {
	places := sizesOf(env, 10_000)[0]
	return suite.Case{Impl: p.Name, Params: params, Goroutines: goroutines, Open: func() (suite.Run, error) {
		m := &mixing{places: places}
		c, err := enter(p, places, goroutines, func(sessions []peer.Session) (job, error) {
			return m.plan(sessions, reads, env.Seed)
		})
		m.contest = c
		return m, err
	}}
}

// mixing is a contest over shared values.
type mixing struct {
	*contest
	places int
	shared peer.Names
	mixers []*mixer
}

func (m *mixing) plan(sessions []peer.Session, reads int, seed uint64) (j job, err error) {
	m.shared = sessions[0].Names(m.places)
	sessions[0].Fill(m.shared, base(len(sessions)))
	for g, s := range sessions {
		w := &mixer{session: s, shared: m.shared, first: base(g), next: base(g)}
		w.ops.all = draw(seed, g, 1<<16, m.places)
		writes := draw(seed+1, g, len(w.ops.all), 100)
		for i, place := range w.ops.all {
			w.ops.all[i] = place << 1
			if int(writes[i]) >= reads {
				w.ops.all[i] |= 1
			}
		}
		m.mixers = append(m.mixers, w)
		j.works = append(j.works, w.work)
	}
	j.check = m.verify
	j.left = m.places
	return j, nil
}

// verify looks up the value in each place after the last operation. Its identity tells
// which operation of which mixer stored it, and that must be a replacement in that place.
func (m *mixing) verify() error {
	for place := range m.places {
		id, stale, _ := m.mixers[0].session.Mix(m.shared, []uint32{uint32(place) << 1}, 0)
		if stale > 0 {
			return fmt.Errorf("the name in place %d is stale", place)
		}
		if id == base(len(m.mixers))+uint64(place) {
			continue
		}
		if g := id/base(0) - 1; g >= uint64(len(m.mixers)) || !m.mixers[g].stored(id, place) {
			return fmt.Errorf("place %d has value %#x, which was not stored there", place, id)
		}
	}
	return nil
}

// Metrics returns the number of look-ups of stale names for each operation.
func (m *mixing) Metrics() map[string]float64 {
	var stale, ops uint64
	for _, w := range m.mixers {
		stale += w.stale
		ops += w.next - w.first
	}
	return map[string]float64{"stale/op": float64(stale) / float64(max(1, ops))}
}

// mixer is one goroutine that looks up and replaces.
type mixer struct {
	session     peer.Session
	shared      peer.Names
	ops         cycle[uint32]
	first, next uint64 // identities: of the first operation, and of the next
	stale       uint64
}

func (w *mixer) work(n int) (int, error) {
	for left := n; left > 0; {
		ops := w.ops.next(left)
		_, stale, failed := w.session.Mix(w.shared, ops, w.next)
		if failed > 0 {
			return n, fmt.Errorf("%d removals were refused, although no other goroutine had those names", failed)
		}
		w.stale += uint64(stale)
		w.next += uint64(len(ops))
		left -= len(ops)
	}
	return n, nil
}

// stored reports whether the mixer stored that value in that place.
func (w *mixer) stored(id uint64, place int) bool {
	return id >= w.first && id < w.next && w.ops.all[(id-w.first)%uint64(len(w.ops.all))] == uint32(place)<<1|1
}
