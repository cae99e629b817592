package workload

import (
	"fmt"
	"sync/atomic"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

func mix() suite.Question {
	return suite.Question{
		ID:    "Mix",
		Title: "What does an operation cost when all read and write the same values?",
		About: "All goroutines look up and replace 10,000 values whose names lie in shared memory, 95 or 50 of 100 operations being look-ups, in an order drawn at random beforehand. " +
			"A name may be stale when it is used, because another goroutine has replaced the value meanwhile: 'stale/op' counts these. Only those take part whose names are words and whose stale names are harmless.",
		Roles: rolesWith(nil),
		Charts: []suite.Chart{
			{Unit: "ns/op"},
		},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, reads := range []int{95, 50} {
				for _, goroutines := range goroutinesOf(env) {
					if goroutines == 1 && env.Procs > 1 && !env.Full {
						continue
					}
					params := []suite.Param{value[peer.Rest16](), number("reads", reads)}
					groups = append(groups, suite.Group{Cases: mixCases[peer.Rest16](params, reads, goroutines, env)})
				}
			}
			return groups
		},
	}
}

// mixCases has all goroutines look up and replace the same values.
func mixCases[R any](params []suite.Param, reads, goroutines int, env suite.Env) (cases []suite.Case) {
	for _, p := range peer.All[R]() {
		if p.Keys && may(&p.About, goroutines) {
			cases = append(cases, mixCase(p, params, reads, goroutines, env))
		}
	}
	return cases
}

func mixCase[R any](p peer.Peer[R], params []suite.Param, reads, goroutines int, env suite.Env) suite.Case {
	places := sizesOf(env, 10_000)[0]
	return suite.Case{Impl: p.Name, Params: params, Goroutines: goroutines, Open: func() (suite.Run, error) {
		m := &mixing{shared: make([]atomic.Uint64, places)}
		c, err := enter(p, places, goroutines, func(sessions []peer.Session) (job, error) {
			return m.plan(sessions, reads, env.Seed)
		})
		m.contest = c
		return m, err
	}}
}

// mixing is the values that all goroutines share, and the goroutines.
type mixing struct {
	*contest
	shared []atomic.Uint64
	mixers []*mixer
}

func (m *mixing) plan(sessions []peer.Session, reads int, seed uint64) (j job, err error) {
	for g, s := range sessions {
		session, ok := s.(peer.Mixer)
		if !ok {
			return j, fmt.Errorf("%T is not a peer.Mixer", s)
		}
		w := &mixer{session: session, shared: m.shared, first: base(g), next: base(g)}
		w.ops.all = draw(seed, g, 1<<16, len(m.shared))
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
	ns := sessions[0].Names(len(m.shared))
	sessions[0].Fill(ns, base(len(sessions)))
	m.mixers[0].session.Publish(ns, m.shared)
	j.check = m.verify
	j.left = len(m.shared)
	return j, nil
}

// verify looks up what lies in each place, when nobody writes any more. Whoever
// stored it has done so in his operation of that number, which must have been to
// replace what lies in that place.
func (m *mixing) verify() error {
	for place := range m.shared {
		id, stale, _ := m.mixers[0].session.Mix(m.shared, []uint32{uint32(place) << 1}, 0)
		if stale > 0 {
			return fmt.Errorf("the name in place %d is stale", place)
		}
		if id == base(len(m.mixers))+uint64(place) {
			continue
		}
		if g := id/base(0) - 1; g >= uint64(len(m.mixers)) || !m.mixers[g].stored(id, place) {
			return fmt.Errorf("place %d has value %#x, which nobody has stored there", place, id)
		}
	}
	return nil
}

// Metrics tells how many look-ups met a stale name.
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
	session     peer.Mixer
	shared      []atomic.Uint64
	ops         cycle[uint32]
	first, next uint64 // identities: of the first operation, and of the next
	stale       uint64
}

func (w *mixer) work(n int) (int, error) {
	for left := n; left > 0; {
		ops := w.ops.next(left)
		_, stale, failed := w.session.Mix(w.shared, ops, w.next)
		if failed > 0 {
			return n, fmt.Errorf("%d removals were refused, whose names had been taken out of shared memory by nobody else", failed)
		}
		w.stale += uint64(stale)
		w.next += uint64(len(ops))
		left -= len(ops)
	}
	return n, nil
}

// stored answers whether the mixer stored that value in that place.
func (w *mixer) stored(id uint64, place int) bool {
	return id >= w.first && id < w.next && w.ops.all[(id-w.first)%uint64(len(w.ops.all))] == uint32(place)<<1|1
}
