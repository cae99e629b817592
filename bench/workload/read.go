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
			"'-guard' pins a guard for 1,024 look-ups, '-batch' makes 64 look-ups a call under a guard, '-ptr' uses names that know their pool. " +
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

// reading returns a session's loop of look-ups.
type reading func(peer.Session) func(ns peer.Names, picks []uint32) (sum uint64)

// way is a reading, and the suffix that it gives the contestant's name.
type way struct {
	suffix string
	read   reading
}

// ways returns the ways that a session of the peer has.
func ways(p peer.Peer[peer.Rest16]) ([]way, error) {
	store, err := p.Open(peer.Config[peer.Rest16]{Live: 1, Sessions: 1})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	s := store.Session()
	defer s.Close()
	ws := []way{{"", func(s peer.Session) func(peer.Names, []uint32) uint64 { return s.Read }}}
	if _, ok := s.(peer.Pinned); ok {
		ws = append(ws, way{"-guard", func(s peer.Session) func(peer.Names, []uint32) uint64 { return s.(peer.Pinned).ReadPinned }})
	}
	if _, ok := s.(peer.Batched); ok {
		ws = append(ws, way{"-batch", func(s peer.Session) func(peer.Names, []uint32) uint64 { return s.(peer.Batched).ReadBatch }})
	}
	if _, ok := s.(peer.Owned); ok {
		ws = append(ws, way{"-ptr", func(s peer.Session) func(peer.Names, []uint32) uint64 { return s.(peer.Owned).ReadOwned }})
	}
	return ws, nil
}

// readRoles returns the roles of the contestants that ways adds.
var readRoles = sync.OnceValue(func() map[string]suite.Role {
	roles := make(map[string]suite.Role)
	for _, p := range peer.All[peer.Rest16]() {
		ws, _ := ways(p)
		for _, w := range ws {
			roles[p.Name+w.suffix] = p.Role
		}
	}
	return roles
})

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
		ws, err := ways(p)
		if err != nil {
			ws = []way{{}} // opening the case will return the error
		}
		for _, w := range ws {
			cases = append(cases, readCase(p, w, params, live, orders))
		}
	}
	return cases
}

func readCase(p peer.Peer[peer.Rest16], w way, params []suite.Param, live int, orders []*order) suite.Case {
	return suite.Case{Impl: p.Name + w.suffix, Params: params, Goroutines: len(orders), Open: func() (suite.Run, error) {
		return enter(p, live, len(orders), func(sessions []peer.Session) (j job, err error) {
			ns := sessions[0].Names(live)
			sessions[0].Fill(ns, base(0))
			for g, s := range sessions {
				j.works = append(j.works, (&reader{read: w.read(s), names: ns, order: orders[g].drawn()}).work)
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
