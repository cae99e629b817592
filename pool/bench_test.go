package pool_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// These benchmarks compare the pool with floors, and with itself under other circumstances.
// Module bench compares it with what programs use in its place. Rounds of the subject and of
// its base alternate, so that other load on the machine affects both, and the ratio is the
// median over the rounds.
//
//	go test -run xxx -bench . -benchtime 1x ./pool
//
// prints, for each pair, ns/op of the pool, base-ns/op of the base, and their ratio: below 1
// the pool is faster.

type work = testkit.Work

var versus = testkit.Versus

// small is the value of most benchmarks: 16 bytes without pointers.
type small = plain

var sink atomic.Uint64

// contest is a subject and its base. Both are made when their turn comes.
type contest struct {
	name          string
	subject, base func() work
}

func run(b *testing.B, contests ...contest) {
	for _, c := range contests {
		b.Run(c.name, func(b *testing.B) { versus(b, c.subject(), c.base()) })
	}
}

func unbounded() *pool.Pool[small] { return pool.Must[small](nil) }

func bounded() *pool.Pool[small] { return pool.Must(&pool.Options[small]{Capacity: 1000}) }

// pairs are insertions with a removal each.
func pairs(p verbs.Shared[small]) work {
	return func(n int) {
		for i := range n {
			h, _ := p.Insert(small{uint64(i), 1})
			p.Remove(h)
		}
	}
}

// guardedPairs are pairs under a guard each.
func guardedPairs(p *pool.Pool[small], d verbs.Shared[small]) work {
	return func(n int) {
		for i := range n {
			g := p.Pin()
			h, _ := d.Insert(small{uint64(i), 1})
			d.Remove(h)
			g.Unpin()
		}
	}
}

// pins are guards, one after the other.
func pins(p *pool.Pool[small]) work {
	return func(n int) {
		for range n {
			g := p.Pin()
			g.Unpin()
		}
	}
}

func epochPins(d *epoch.Domain) work {
	return func(n int) {
		for range n {
			g := d.Pin()
			g.Unpin()
		}
	}
}

// gets are look-ups of one value.
func gets(p *pool.Pool[small]) work {
	h, _ := p.Insert(small{})
	return func(n int) {
		for range n {
			p.Get(h)
		}
	}
}

// BenchmarkPin has two floors: two compare-and-swaps whose results are not used, and two
// whose results are, as a claim and a release must. The processor does not begin a locked
// instruction before the branch on the one before is decided.
func BenchmarkPin(b *testing.B) {
	word := new(atomic.Uint64)
	subject := func() work { return pins(unbounded()) }
	run(b, contest{"impl=pool/base=locked", subject, func() work {
		return func(n int) {
			word.Store(0)
			for i := range uint64(n) {
				word.CompareAndSwap(2*i, 2*i+1)
				word.CompareAndSwap(2*i+1, 2*i+2)
			}
		}
	}}, contest{"impl=pool/base=claim+release", subject, func() work {
		return func(n int) {
			for range n {
				w := word.Load()
				if !word.CompareAndSwap(w, w|1) || !word.CompareAndSwap(w|1, w+2) {
					b.Error("no other goroutine is there")
				}
			}
		}
	}})
}

// lockedPair is the floor under an insertion with a removal: a slot that is
// written, published by a store and taken back by a compare-and-swap.
func lockedPair(n int) {
	var slot struct {
		value small
		word  atomic.Uint64
	}
	for i := range n {
		slot.value = small{uint64(i), 1}
		slot.word.Store(uint64(i) | 1)
		slot.word.CompareAndSwap(uint64(i)|1, 0)
	}
	sink.Add(slot.value.id)
}

func BenchmarkPair(b *testing.B) {
	base := func() work { return lockedPair }
	run(b,
		contest{"impl=worker/base=locked", func() work { return pairs(unbounded().Worker()) }, base},
		contest{"impl=pool/base=locked", func() work { return pairs(unbounded()) }, base},
	)
}

// BenchmarkGuardedPair has a guard around each pair, in a pool with a Capacity, whose
// removals are distinguished by the guards between them, beside one without.
func BenchmarkGuardedPair(b *testing.B) {
	run(b, contest{"impl=pool/base=unbounded",
		func() work { p := bounded(); return guardedPairs(p, p) }, func() work { p := unbounded(); return guardedPairs(p, p) },
	}, contest{"impl=worker/base=unbounded",
		func() work { p := bounded(); return guardedPairs(p, p.Worker()) },
		func() work { p := unbounded(); return guardedPairs(p, p.Worker()) },
	})
}

// BenchmarkFull has eight goroutines whose insertions a full pool refuses, and eight that
// insert and remove where only four values fit, beside a slot map under a mutex.
func BenchmarkFull(b *testing.B) {
	const goroutines = 8
	crew := func(w work) work { return testkit.On(goroutines, func() work { return w }) }
	attempts := func(insert func(small) (pool.Handle[small], error), remove func(pool.Handle[small]) bool) work {
		return crew(func(n int) {
			for i := range n {
				if h, err := insert(small{uint64(i), 1}); err == nil {
					remove(h)
				}
			}
		})
	}
	for _, c := range []struct{ capacity, shards, live int }{{1024, 0, 1024}, {1024, 64, 1024}, {4, 0, 0}} {
		run(b, contest{fmt.Sprintf("impl=pool/base=mutex/capacity=%d/live=%d/shards=%d/goroutines=%d", c.capacity, c.live, c.shards, goroutines),
			func() work {
				p := pool.Must(&pool.Options[small]{Capacity: c.capacity, Shards: c.shards})
				testkit.Fill(b, p, c.live, func(i int) small { return small{uint64(i), 1} })
				return attempts(p.Insert, p.Remove)
			},
			func() work {
				m := newLockedSlots(c.capacity)
				for range c.live {
					m.insert(small{})
				}
				return attempts(m.insert, m.remove)
			},
		})
	}
}

// lockedSlots is a slot map under a mutex, with a bound.
type lockedSlots struct {
	mu     sync.Mutex
	values []small
	gens   []uint32 // odd while live
	free   []uint32
}

func newLockedSlots(capacity int) *lockedSlots {
	m := &lockedSlots{values: make([]small, capacity), gens: make([]uint32, capacity)}
	for i := range capacity {
		m.free = append(m.free, uint32(i))
	}
	return m
}

func (m *lockedSlots) insert(v small) (pool.Handle[small], error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.free) == 0 {
		return 0, pool.ErrFull
	}
	i := m.free[len(m.free)-1]
	m.free = m.free[:len(m.free)-1]
	m.gens[i]++
	m.values[i] = v
	return pool.Handle[small](uint64(m.gens[i])<<32 | uint64(i)), nil
}

func (m *lockedSlots) remove(h pool.Handle[small]) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := uint32(h)
	if m.gens[i] != uint32(h>>32) {
		return false
	}
	m.gens[i]++
	m.free = append(m.free, i)
	return true
}

// BenchmarkReserve makes, fills, commits and removes one value after the other, against Insert,
// which is cheaper.
func BenchmarkReserve(b *testing.B) {
	p := unbounded()
	reserving := func(n int) {
		for i := range n {
			r, _ := p.Reserve()
			*r.Value() = small{uint64(i), 1}
			p.Remove(r.Commit())
		}
	}
	for _, g := range []int{1, 2} {
		on := func(w work) func() work { return func() work { return testkit.On(g, func() work { return w }) } }
		run(b, contest{fmt.Sprintf("impl=reserve/base=insert/goroutines=%d", g), on(reserving), on(pairs(p))})
	}
}

// BenchmarkEach calls a function for each value, on one goroutine, against a loop
// under one guard that does so.
func BenchmarkEach(b *testing.B) {
	for _, live := range []int{10_000, 200_000} {
		p := unbounded()
		testkit.Fill(b, p, live, func(i int) small { return small{uint64(i), 1} })
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		sum := uint64(0)
		call := func(_ pool.Handle[small], v *small) error {
			sum += v.twice
			return nil
		}
		b.Run(fmt.Sprintf("impl=each/base=guard/live=%d", live), func(b *testing.B) {
			versus(b, times(func() { _ = p.Each(ctx, 1, call) }), times(func() {
				g := p.Pin()
				for h, v := range g.All() {
					if call(h, v) != nil {
						break
					}
				}
				g.Unpin()
			}))
		})
		sink.Add(sum)
	}
}

// times does f n times.
func times(f func()) work {
	return func(n int) {
		for range n {
			f()
		}
	}
}

// BenchmarkHold holds and releases one value, against pinning, looking it up and unpinning.
func BenchmarkHold(b *testing.B) {
	p := unbounded()
	h, _ := p.Insert(small{1, 1})
	b.Run("impl=hold/base=pin", func(b *testing.B) {
		versus(b, times(func() {
			r, _ := p.Hold(h)
			r.Value().twice++
			r.Release()
		}), times(func() {
			g := p.Pin()
			v, _ := g.Get(h)
			v.twice++
			g.Unpin()
		}))
	})
}

// The benchmarks from here on compare a pool, or a domain, that has or had many guards or
// Refs with one that has not. The aim is a ratio of at most 2.

// manyGuards is how many guards there were, openGuards how many there are.
const (
	manyGuards = 10_000
	openGuards = 32_000
)

// leaving is the order in which guards go.
func leaving(order string) []int {
	list := rand.New(rand.NewPCG(1, 2)).Perm(manyGuards)
	if order == "same" {
		for i := range list {
			list[i] = i
		}
	}
	return list
}

// afterGuards returns a pool whose many guards have gone, in the order in which they came or
// in any.
func afterGuards(order string) *pool.Pool[small] {
	p := unbounded()
	guards := make([]pool.Guard[small], manyGuards)
	for i := range guards {
		guards[i] = p.Pin()
	}
	for _, i := range leaving(order) {
		guards[i].Unpin()
	}
	return p
}

func BenchmarkAfterGuards(b *testing.B) {
	for _, order := range []string{"any", "same"} {
		run(b, contest{"impl=pool/order=" + order,
			func() work { return pairs(afterGuards(order)) }, func() work { return pairs(unbounded()) },
		}, contest{"impl=worker/order=" + order,
			func() work { return pairs(afterGuards(order).Worker()) }, func() work { return pairs(unbounded().Worker()) },
		})
	}
}

// BenchmarkScanAfterGuards retires, and asks whether the stamp's grace period is over, when so
// many guards have gone and a few have not.
func BenchmarkScanAfterGuards(b *testing.B) {
	scans := func(many, stay int) work {
		d := epoch.New()
		guards := make([]epoch.Guard, many)
		for i := range guards {
			guards[i] = d.Pin()
		}
		for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(many)[stay:] {
			guards[i].Unpin()
		}
		return times(func() { d.Passed(d.Retire()) })
	}
	for _, stay := range []int{0, 1, 10} {
		run(b, contest{fmt.Sprintf("stay=%d", stay),
			func() work { return scans(manyGuards, stay) }, func() work { return scans(stay, stay) }})
	}
}

// besideGuards returns a pool with so many guards, all pinned by one goroutine or each by
// another.
func besideGuards(by string) *pool.Pool[small] {
	p := unbounded()
	for range openGuards {
		if by == "one" {
			p.Pin()
		} else {
			done := make(chan bool)
			go func() { p.Pin(); close(done) }()
			<-done
		}
	}
	return p
}

func BenchmarkPinBesideGuards(b *testing.B) {
	base := func() work { return pins(unbounded()) }
	run(b,
		contest{"impl=pool/by=one", func() work { return pins(besideGuards("one")) }, base},
		contest{"impl=pool/by=many", func() work { return pins(besideGuards("many")) }, base},
		contest{"impl=get", func() work { return gets(besideGuards("one")) }, func() work { return gets(unbounded()) }},
		contest{"impl=epoch", func() work {
			d := epoch.New()
			for range openGuards {
				d.Pin()
			}
			return epochPins(d)
		}, func() work { return epochPins(epoch.New()) }},
	)
}

// BenchmarkBesideRefs has pairs while Refs are held. The cost of reclaiming must not depend
// on how many there are.
func BenchmarkBesideRefs(b *testing.B) {
	holding := func(refs int) *pool.Pool[small] {
		p := unbounded()
		for i, h := range testkit.Fill(b, p, refs, func(i int) small { return small{uint64(i), 1} }) {
			mustHold(b, p, h)
			if i%2 == 0 {
				p.Remove(h)
			}
		}
		return p
	}
	for _, refs := range []int{1, 10_000} {
		run(b, contest{fmt.Sprintf("impl=pool/refs=%d/base=norefs", refs),
			func() work { return pairs(holding(refs)) }, func() work { return pairs(unbounded()) },
		}, contest{fmt.Sprintf("impl=worker/refs=%d/base=norefs", refs),
			func() work { return pairs(holding(refs).Worker()) }, func() work { return pairs(unbounded().Worker()) },
		})
	}
}
