//go:build !race

package pool_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// BenchmarkFull has eight goroutines whose insertions a full pool refuses, and eight that
// insert and remove where only four values fit, beside a slot map under a mutex. Module bench
// compares the pool with what programs use in its place. Rounds alternate:
//
//	go test -run '^$' -bench Full -benchtime 1x ./pool
//
// prints ns/op of the pool, base-ns/op of the slot map, and their ratio: below 1 the pool is
// faster.
func BenchmarkFull(b *testing.B) {
	const goroutines = 8
	for _, c := range []struct{ capacity, shards, live int }{{1024, 0, 1024}, {1024, 64, 1024}, {4, 0, 0}} {
		attempts := func(insert func(plain) (pool.Handle[plain], error), remove func(pool.Handle[plain]) bool) testkit.Work {
			for range c.live {
				_, _ = insert(plain{})
			}
			return func(n int) {
				testkit.Together(goroutines, func(int) {
					for i := range n {
						if h, err := insert(plain{uint64(i), 1}); err == nil {
							remove(h)
						}
					}
				})
			}
		}
		b.Run(fmt.Sprintf("impl=pool/base=mutex/capacity=%d/live=%d/shards=%d/goroutines=%d", c.capacity, c.live, c.shards, goroutines), func(b *testing.B) {
			p := pool.Must(&pool.Options[plain]{Capacity: c.capacity, Shards: c.shards})
			m := newLockedSlots(c.capacity)
			testkit.Versus(b, attempts(p.Insert, p.Remove), attempts(m.insert, m.remove))
		})
	}
}

// lockedSlots is a slot map under a mutex, with a bound.
type lockedSlots struct {
	mu     sync.Mutex
	values []plain
	gens   []uint32 // odd while live
	free   []uint32
}

func newLockedSlots(capacity int) *lockedSlots {
	m := &lockedSlots{values: make([]plain, capacity), gens: make([]uint32, capacity)}
	for i := range capacity {
		m.free = append(m.free, uint32(i))
	}
	return m
}

func (m *lockedSlots) insert(v plain) (pool.Handle[plain], error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.free) == 0 {
		return 0, pool.ErrFull
	}
	i := m.free[len(m.free)-1]
	m.free = m.free[:len(m.free)-1]
	m.gens[i]++
	m.values[i] = v
	return pool.Handle[plain](uint64(m.gens[i])<<32 | uint64(i)), nil
}

func (m *lockedSlots) remove(h pool.Handle[plain]) bool {
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

// BenchmarkLoops compares loops over 100,000 values with one over a slice, and with Len:
//
//	go test -run '^$' -bench Loops ./pool
func BenchmarkLoops(b *testing.B) {
	const n = 100_000
	p, values := pool.Must[[2]uint64](nil), make([][2]uint64, n)
	for i := range values {
		values[i][0] = uint64(i)
		_, err := p.Insert(values[i])
		require.NoError(b, err)
	}
	for name, sum := range map[string]func() uint64{
		"slice": func() (sum uint64) {
			for i := range values {
				sum += values[i][0]
			}
			return sum
		},
		"Guard.All": func() (sum uint64) {
			g := p.Pin()
			for _, v := range g.All() {
				sum += v[0]
			}
			g.Unpin()
			return sum
		},
		"Pool.All": func() (sum uint64) {
			for _, v := range p.All() {
				sum += v[0]
			}
			return sum
		},
		"Len": func() uint64 { return uint64(p.Len()) * (n - 1) / 2 },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if sum() != n*(n-1)/2 {
					b.Fatal("the sum is wrong")
				}
			}
		})
	}
}
