package workload

import (
	"fmt"
	"sync"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// read looks up live values, in an order drawn at random beforehand. The peers that pin pin a
// guard for 1,024 look-ups. A pointer needs no look-up, and does not tell whether its value is
// gone.
func read() suite.Question {
	return suite.Question{
		ID:     "Read",
		Title:  "Look a value up",
		Charts: []suite.Chart{{Unit: "ns/op"}},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, live := range sizesOf(env, 10_000, 1_000_000) {
				groups = append(groups, suite.Group{Apart: live >= big, Cases: contests[peer.Rest16](reads(live, 1))})
			}
			return groups
		},
	}
}

// hot looks up the same value on all goroutines. If each look-up writes to a lock or a counter,
// its cache line moves between the cores; with one goroutine nothing moves.
func hot() suite.Question {
	return suite.Question{
		ID:     "Hot",
		Title:  "Look up one value that all goroutines want",
		Charts: []suite.Chart{{Unit: "ns/op"}},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, goroutines := range goroutinesOf(env) {
				r := reads(1, goroutines)
				r.params = []suite.Param{value[peer.Rest16]()}
				groups = append(groups, suite.Group{Cases: contests[peer.Rest16](r)})
			}
			return groups
		},
	}
}

// reads are the rules by which all goroutines look up the values of the first, each in an
// order of its own.
func reads(live, goroutines int) rules {
	// The first case that is opened draws them.
	orders := sync.OnceValue(func() (orders []*order) {
		for g := range goroutines {
			orders = append(orders, newOrder(g, live))
		}
		return orders
	})
	params := []suite.Param{value[peer.Rest16](), number("live", live)}
	return rules{params: params, live: live, goroutines: goroutines, reads: true, plan: func(sessions []peer.Session) (j job) {
		ns := sessions[0].Names(live)
		sessions[0].Fill(ns, base(0))
		for g, s := range sessions {
			j.works = append(j.works, (&reader{read: s.Read, names: ns, order: orders()[g]}).work)
		}
		j.checks = append(j.checks, func() error { return cleared(sessions[0], ns, base(0)) })
		return j
	}}
}

// burstOfReads is the number of look-ups under one guard.
const burstOfReads = 1024

// order is the order of one goroutine's look-ups.
type order struct {
	picks []uint32
	sums  []uint64 // of the picks of each burst
}

func newOrder(session, live int) *order {
	n := 1 << 14
	for n < live && n < 1<<20 {
		n *= 2
	}
	o := &order{picks: draw(session, n, live)}
	for from := 0; from < n; from += burstOfReads {
		var sum uint64
		for _, pick := range o.picks[from : from+burstOfReads] {
			sum += uint64(pick)
		}
		o.sums = append(o.sums, sum)
	}
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
		r.at = (r.at + 1) % len(r.order.sums)
		did += burstOfReads
	}
	return did, nil
}
