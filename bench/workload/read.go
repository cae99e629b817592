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
		About: "One goroutine looks live values up in an order drawn at random beforehand and reads their identity. " +
			"'-guard' looks up under a guard for 1,024 look-ups at a time, '-batch' many at once under a guard, '-ptr' by names that know their pool. " +
			"What is named by pointers looks nothing up, and cannot tell that a name is stale.",
		Roles: rolesWith(readRoles()),
		Front: true,
		Charts: []suite.Chart{
			{Unit: "ns/op"},
		},
		Groups: values(readGroups[peer.Rest16], readGroups[peer.Rest64], readGroups[peer.Rest256],
			readGroups[peer.Refs16], readGroups[peer.Refs64], readGroups[peer.Refs256]),
	}
}

func readGroups[R any](env suite.Env) (groups []suite.Group) {
	for _, live := range sizesOf(env, 10_000, 1_000_000) {
		params := []suite.Param{value[R](), number("live", live)}
		groups = append(groups, suite.Group{
			Apart: live >= big,
			Cases: readCases[R](params, live, 1, env.Seed),
		})
	}
	return groups
}

func hot() suite.Question {
	return suite.Question{
		ID:    "Hot",
		Title: "What does it cost to look up the one value that all want?",
		About: "All goroutines look the same value up. A lock or a counter that belongs to the value, or to all of the store, moves between the cores at each look-up; " +
			"with one goroutine nothing moves.",
		Roles: rolesWith(readRoles()),
		Charts: []suite.Chart{
			{Unit: "ns/op"},
		},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, goroutines := range goroutinesOf(env) {
				groups = append(groups, suite.Group{
					Cases: readCases[peer.Rest16]([]suite.Param{value[peer.Rest16]()}, 1, goroutines, env.Seed),
				})
			}
			return groups
		},
	}
}

// reading is a way to look many values up.
type reading func(peer.Session) func(ns peer.Names, picks []uint32) (sum uint64)

// way is a reading with the suffix of its contestant's name.
type way struct {
	suffix string
	read   reading
}

// ways returns how a peer's values can be looked up. Sessions tell, so it makes one.
func ways[R any](p peer.Peer[R]) ([]way, error) {
	store, err := p.Open(peer.Config[R]{Live: 1, Sessions: 1})
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

// readCases has each goroutine look values up: the same ones all of them, in an
// order of its own, by every way that there is.
func readCases[R any](params []suite.Param, live, goroutines int, seed uint64) (cases []suite.Case) {
	orders := make([]*order, goroutines)
	for g := range orders {
		orders[g] = &order{seed: seed, session: g, live: live}
	}
	for _, p := range peer.All[R]() {
		// Workers, and a pool that is FIFO, look up as the pool does.
		if !may(&p.About, goroutines) || p.Name == peer.NameWorker || p.Name == peer.NameFIFO {
			continue
		}
		ws, err := ways(p)
		if err != nil {
			// Then opening it says so.
			ws = []way{{}}
		}
		for _, w := range ws {
			cases = append(cases, readCase(p, w, params, live, orders))
		}
	}
	return cases
}

// readCase has a goroutine look values up in each of the orders.
func readCase[R any](p peer.Peer[R], w way, params []suite.Param, live int, orders []*order) suite.Case {
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

// burstOfReads is how many look-ups a guard is pinned for.
const burstOfReads = 1024

// order is the order in which one goroutine looks values up, for all cases of a
// group. It is drawn when the first of them is opened.
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

// reader is one goroutine that looks values up.
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
			return did, fmt.Errorf("the identities of %d values that were looked up sum to %d and should to %d", burstOfReads, sum, want)
		}
		if r.at++; r.at == len(r.order.sums) {
			r.at = 0
		}
		did += burstOfReads
	}
	return did, nil
}

// cleared removes the values that were stored by a Fill from first on, and says
// whether they were all there.
func cleared(s peer.Session, ns peer.Names, first uint64) error {
	n := uint64(ns.Len())
	sum, failed := s.Empty(ns)
	if want := n*first + n*(n-1)/2; sum != want || failed > 0 {
		return fmt.Errorf("of %d values, %d could not be looked up and removed, and the identities sum to %d and should to %d", n, failed, sum, want)
	}
	return nil
}
