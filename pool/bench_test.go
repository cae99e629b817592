package pool_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"

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

// pairs are insertions with a removal each.
func pairs(p verbs.Shared[small]) work {
	return func(n int) {
		for i := range n {
			h, _ := p.Insert(small{uint64(i), 1})
			p.Remove(h)
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

// BenchmarkSnapshot is against encoding/binary, which encodes a slice of as many values at once.
func BenchmarkSnapshot(b *testing.B) {
	type value = [2]uint64
	p := pool.Must[value](nil)
	vs := make([]value, 100_000)
	testkit.Fill(b, p, len(vs), func(i int) value { return value{uint64(i), 1} })
	snapshot := snapshotOf(b, p)
	raw, _ := binary.Append(nil, binary.LittleEndian, vs)
	run(b, contest{"impl=write/base=binary", func() work { return times(func() { _, _ = p.WriteTo(io.Discard) }) }, func() work {
		return times(func() { raw, _ = binary.Append(raw[:0], binary.LittleEndian, vs) })
	}}, contest{"impl=read/base=binary", func() work {
		return times(func() { _, _ = pool.ReadFrom[value](bytes.NewReader(snapshot), nil) })
	}, func() work {
		return times(func() { _, _ = binary.Decode(raw, binary.LittleEndian, make([]value, len(vs))) }) // as ReadFrom must
	}})
}

// times does f n times.
func times(f func()) work {
	return func(n int) {
		for range n {
			f()
		}
	}
}
