package workload

import (
	"fmt"
	"sync"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

func read() suite.Question {
	return suite.Question{
		ID:    "Read",
		Title: "What does it cost to look a value up?",
		About: "One goroutine looks up live values in an order drawn at random beforehand and reads their identity. " +
			"'-guard' pins a guard for 1,024 look-ups, '-batch' makes 64 look-ups a call under a guard. " +
			"A pointer needs no look-up, and does not tell whether its value is gone.",
		Roles: rolesWith(readRoles()),
		Front: true,
		Charts: []suite.Chart{
			{Unit: "ns/op"},
		},
		Groups: readGroups,
	}
}

func readGroups(env suite.Env) (groups []suite.Group) {
	for _, live := range sizesOf(env, 10_000, 1_000_000) {
		params := []suite.Param{value[peer.Rest16](), number("live", live)}
		groups = append(groups, suite.Group{
			Apart: live >= big,
			Cases: readCases(params, live, 1, env.Seed),
		})
	}
	return groups
}

func hot() suite.Question {
	return suite.Question{
		ID:    "Hot",
		Title: "What does it cost to look up one value that all goroutines want?",
		About: "All goroutines look up the same value. If each look-up writes to a lock or a counter, its cache line moves between the cores; " +
			"with one goroutine nothing moves.",
		Roles: rolesWith(readRoles()),
		Charts: []suite.Chart{
			{Unit: "ns/op"},
		},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, goroutines := range goroutinesOf(env) {
				groups = append(groups, suite.Group{
					Cases: readCases([]suite.Param{value[peer.Rest16]()}, 1, goroutines, env.Seed),
				})
			}
			return groups
		},
	}
}

// readRoles returns the roles of all peers, also by the ways of their look-ups.
func readRoles() map[string]suite.Role {
	roles := make(map[string]suite.Role)
	for _, p := range peer.All[peer.Rest16]() {
		for _, way := range waysOf(&p.About) {
			roles[implOf(&p.About, way)] = p.Role
		}
	}
	return roles
}

// waysOf returns the ways to look up. The empty one is Session.Read.
func waysOf(about *peer.About) []string { return append([]string{""}, about.Ways...) }

// implOf returns the contestant's name when it looks up by a way.
func implOf(about *peer.About, way string) string {
	if way == "" {
		return about.Name
	}
	return about.Name + "-" + way
}

// readCases returns a case for each way of each peer. All goroutines look up the same
// values, each in its own order.
func readCases(params []suite.Param, live, goroutines int, seed uint64) (cases []suite.Case) {
	orders := make([]*order, goroutines)
	for g := range orders {
		orders[g] = &order{seed: seed, session: g, live: live}
	}
	for _, p := range peer.All[peer.Rest16]() {
		// A Worker and a FIFO pool look up as the pool does.
		if !may(&p.About, goroutines) || p.Name == peer.NameWorker || p.Name == peer.NameFIFO {
			continue
		}
		for _, way := range waysOf(&p.About) {
			cases = append(cases, readCase(p, way, params, live, orders))
		}
	}
	return cases
}

func readCase(p peer.Peer[peer.Rest16], way string, params []suite.Param, live int, orders []*order) suite.Case {
	return suite.Case{Impl: implOf(&p.About, way), Params: params, Goroutines: len(orders), Open: func() (suite.Run, error) {
		return enter(p, live, len(orders), func(sessions []peer.Session) (j job, err error) {
			ns := sessions[0].Names(live)
			sessions[0].Fill(ns, base(0))
			for g, s := range sessions {
				read := s.Read
				if way != "" {
					read = func(ns peer.Names, picks []uint32) uint64 { return s.ReadBy(way, ns, picks) }
				}
				j.works = append(j.works, (&reader{read: read, names: ns, order: orders[g].drawn()}).work)
			}
			j.check = func() error { return cleared(sessions[0], ns, base(0)) }
			return j, nil
		})
	}}
}

// burstOfReads is the number of look-ups under one guard.
const burstOfReads = 1024

// order is the order of one goroutine's look-ups, for all cases of a group. The first
// case that is opened draws it.
type order struct {
	seed    uint64
	session int
	live    int
	once    sync.Once
	picks   []uint32
	sums    []uint64 // of the picks of each burst
}

func (o *order) drawn() *order {
	o.once.Do(func() {
		n := 1 << 14
		for n < o.live && n < 1<<20 {
			n *= 2
		}
		o.picks = draw(o.seed, o.session, n, o.live)
		for from := 0; from < len(o.picks); from += burstOfReads {
			var sum uint64
			for _, pick := range o.picks[from : from+burstOfReads] {
				sum += uint64(pick)
			}
			o.sums = append(o.sums, sum)
		}
	})
	return o
}

type reader struct {
	read  func(peer.Names, []uint32) uint64
	names peer.Names
	order *order
	at    int
}

func (r *reader) work(n int) (did int, err error) {
	for did < n {
		from := r.at * burstOfReads
		sum := r.read(r.names, r.order.picks[from:from+burstOfReads])
		if want := r.order.sums[r.at] + base(0)*burstOfReads; sum != want {
			return did, fmt.Errorf("the identities of %d values sum to %d, want %d", burstOfReads, sum, want)
		}
		if r.at++; r.at == len(r.order.sums) {
			r.at = 0
		}
		did += burstOfReads
	}
	return did, nil
}

// cleared removes the values that a Fill stored from first on. It requires all of them.
func cleared(s peer.Session, ns peer.Names, first uint64) error {
	n := uint64(ns.Len())
	sum, failed := s.Empty(ns)
	if want := n*first + n*(n-1)/2; sum != want || failed > 0 {
		return fmt.Errorf("%d of %d values could not be looked up and removed; the identities sum to %d, want %d", failed, n, sum, want)
	}
	return nil
}
