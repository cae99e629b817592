package main

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"coatcheck/pool"
)

// Why does a replacement among a million values cost more in a pool than in a slot map under a
// mutex? Not because the slot map reuses the slot that is still in the cache, and not because of
// locked instructions. A processor runs ahead of a cache miss by some hundred instructions. The
// fewer instructions a replacement takes, the more of the next ones' misses begin meanwhile. These
// benchmarks show it:
//
//	slotmap    as one writes it by hand
//	delayed    a vacant slot is reused after 128 others: costs the same
//	longer     forty additions more in each replacement: 4 ns among a thousand values, and twice
//	           the time among a million
//	worker, pool
//
// Run them by
//
//	go -C bench test -run '^$' -bench Window -count 5 .
func BenchmarkWindow(b *testing.B) {
	for _, live := range []int{1_000, 1_000_000} {
		picks := make([]uint32, 1<<20)
		r := rand.New(rand.NewPCG(1, uint64(live)))
		for i := range picks {
			picks[i] = r.Uint32N(uint32(live))
		}
		run := func(name string, replace func(picks []uint32)) {
			b.Run(fmt.Sprintf("%s/live=%d", name, live), func(b *testing.B) {
				replace(picks)
				b.ResetTimer()
				for n := b.N; n > 0; n -= len(picks) {
					replace(picks[:min(n, len(picks))])
				}
			})
		}
		for _, m := range []*handMade{{name: "slotmap", delay: 1}, {name: "delayed", delay: 128}, {name: "longer", delay: 1, additions: 40}} {
			m.fill(live)
			run(m.name, m.replace)
		}
		p := pool.Must[[2]uint64](nil)
		handles := make([]pool.Handle[[2]uint64], live)
		for i := range handles {
			handles[i] = inserted(p.Insert([2]uint64{uint64(i)}))
		}
		w := p.Worker()
		run("worker", func(picks []uint32) {
			for _, i := range picks {
				w.Remove(handles[i])
				handles[i] = inserted(w.Insert([2]uint64{uint64(i)}))
			}
		})
		w.Flush()
		run("pool", func(picks []uint32) {
			for _, i := range picks {
				p.Remove(handles[i])
				handles[i] = inserted(p.Insert([2]uint64{uint64(i)}))
			}
		})
	}
}

func inserted(h pool.Handle[[2]uint64], err error) pool.Handle[[2]uint64] {
	if err != nil {
		panic(err)
	}
	return h
}

// handMade is a slot map whose vacant slots wait in a ring.
type handMade struct {
	name      string
	delay     int // how many slots are vacant
	additions int // so many in each replacement, four at a time

	mu     sync.Mutex
	slots  []madeSlot
	vacant []uint32
	next   int
	names  []uint64
	sums   [4]uint64
}

type madeSlot struct {
	generation uint32
	value      [2]uint64
}

func (m *handMade) fill(live int) {
	m.slots = make([]madeSlot, live+m.delay)
	m.names = make([]uint64, live)
	for i := range m.names {
		m.names[i] = uint64(i)
	}
	for i := range m.delay {
		m.vacant = append(m.vacant, uint32(live+i))
	}
}

func (m *handMade) replace(picks []uint32) {
	for _, i := range picks {
		m.mu.Lock()
		h := m.names[i]
		slot := &m.slots[uint32(h)]
		if slot.generation != uint32(h>>32) {
			panic("a stale name")
		}
		slot.generation++
		took := m.vacant[m.next]
		m.vacant[m.next] = uint32(h)
		if m.next++; m.next == len(m.vacant) {
			m.next = 0
		}
		m.mu.Unlock()
		for range m.additions / 4 {
			m.sums[0] += h
			m.sums[1] -= h
			m.sums[2] ^= h
			m.sums[3] += uint64(i)
		}
		m.mu.Lock()
		slot = &m.slots[took]
		slot.value = [2]uint64{uint64(i)}
		m.names[i] = uint64(slot.generation)<<32 | uint64(took)
		m.mu.Unlock()
	}
}
