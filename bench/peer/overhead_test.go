package peer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coatcheck/pool"
)

// small is the type for which the loops are written by hand.
type small = Value[Rest16]

// BenchmarkOverhead puts the adapter's loops beside the same loops written by hand,
// for the one type, without an interface, a type parameter or a function literal.
// Both take turns within one run; ratio is the median of their ratios, and 1 is
// what the adapters owe.
//
//	go test -run xxx -bench Overhead -benchtime 1x ./peer
func BenchmarkOverhead(b *testing.B) {
	const live = 10_000
	r := rand.New(rand.NewPCG(1, 2))
	picks := make([]uint32, 1<<14)
	for i := range picks {
		picks[i] = r.Uint32N(live)
	}
	// Both work on the same values, so that neither has them lie better.
	config := Config[Rest16]{Rest: Rest16{1}, Live: live, Sessions: 1}
	session := must(Pool[Rest16](NamePool, nil).Open(config)).Session().(*poolSession[Rest16])
	ns := session.Names(live)
	session.Fill(ns, 1)
	p, hs := session.pool, of[uint64](ns)
	plain := must(Plain[Rest16]().Open(config)).Session().(*plainSession[Rest16])
	ms := plain.Names(live)
	plain.Fill(ms, 1)
	m := &smallMap{free: none}
	ks := make([]uint64, live)
	for i := range ks {
		ks[i] = m.insert(small{uint64(i), Rest16{1}})
	}

	for _, c := range []struct {
		name          string
		adapter, hand func()
	}{
		{"Pairs", func() { session.Pairs(len(picks), 1) }, func() { pairsByHand(p, len(picks)) }},
		{"Replace", func() { session.Replace(ns, picks, 1) }, func() { replaceByHand(p, hs, picks) }},
		{"Read", func() { sink += session.Read(ns, picks) }, func() { sink += readByHand(p, hs, picks) }},
		{"ReadPinned", func() { sink += session.ReadPinned(ns, picks) }, func() { sink += readPinnedByHand(p, hs, picks) }},
		{"PlainPairs", func() { plain.Pairs(len(picks), 1) }, func() { mapPairsByHand(m, len(picks)) }},
		{"PlainRead", func() { sink += plain.Read(ms, picks) }, func() { sink += mapReadByHand(m, ks, picks) }},
	} {
		b.Run(fmt.Sprintf("loop=%s", c.name), func(b *testing.B) {
			for b.Loop() {
				const rounds = 301
				adapters, hands, ratios := make([]float64, rounds), make([]float64, rounds), make([]float64, rounds)
				for i := range rounds {
					adapters[i], hands[i] = timed(c.adapter, len(picks)), timed(c.hand, len(picks))
					ratios[i] = adapters[i] / hands[i]
				}
				b.ReportMetric(median(adapters), "ns/op")
				b.ReportMetric(median(hands), "hand-ns/op")
				b.ReportMetric(median(ratios), "ratio")
			}
		})
	}
}

var sink uint64

func timed(f func(), n int) float64 {
	start := time.Now()
	f()
	return float64(time.Since(start)) / float64(n)
}

func median(xs []float64) float64 {
	slices.Sort(xs)
	return xs[len(xs)/2]
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

//go:noinline
func pairsByHand(p *pool.Pool[small], n int) (failed int) {
	for i := range n {
		h, err := p.Insert(small{uint64(i), Rest16{1}})
		if err != nil {
			panic(err)
		}
		if !p.Remove(h) {
			failed++
		}
	}
	return
}

//go:noinline
func replaceByHand(p *pool.Pool[small], hs []uint64, picks []uint32) (failed int) {
	for i, pick := range picks {
		if !p.Remove(pool.Handle[small](hs[pick])) {
			failed++
		}
		h, err := p.Insert(small{uint64(i), Rest16{1}})
		if err != nil {
			panic(err)
		}
		hs[pick] = uint64(h)
	}
	return
}

//go:noinline
func readByHand(p *pool.Pool[small], hs []uint64, picks []uint32) (sum uint64) {
	for _, pick := range picks {
		v, _ := p.Get(pool.Handle[small](hs[pick]))
		sum += v.ID
	}
	return
}

//go:noinline
func readPinnedByHand(p *pool.Pool[small], hs []uint64, picks []uint32) (sum uint64) {
	g := p.Pin()
	defer g.Unpin()
	for _, pick := range picks {
		if v, ok := g.Get(pool.Handle[small](hs[pick])); ok {
			sum += v.ID
		}
	}
	return
}

// smallMap is slotMap for small.
type smallMap struct {
	slots []smallSlot
	free  uint32
	live  int
	clear bool
}

type smallSlot struct {
	generation, next uint32
	value            small
}

func (m *smallMap) insert(v small) uint64 {
	m.live++
	i := m.free
	if i == none {
		m.slots = append(m.slots, smallSlot{generation: 1, value: v})
		return 1<<32 | uint64(len(m.slots)-1)
	}
	s := &m.slots[i]
	m.free = s.next
	s.generation++
	s.value = v
	return uint64(s.generation)<<32 | uint64(i)
}

func (m *smallMap) get(n uint64) *small {
	if i := uint64(uint32(n)); i < uint64(len(m.slots)) {
		if s := &m.slots[i]; s.generation == uint32(n>>32) {
			return &s.value
		}
	}
	return nil
}

func (m *smallMap) remove(n uint64) bool {
	i := uint32(n)
	if uint64(i) >= uint64(len(m.slots)) {
		return false
	}
	s := &m.slots[i]
	if s.generation != uint32(n>>32) {
		return false
	}
	s.generation++
	if m.clear {
		s.value = small{}
	}
	s.next = m.free
	m.free = i
	m.live--
	return true
}

//go:noinline
func mapPairsByHand(m *smallMap, n int) (failed int) {
	for i := range n {
		if !m.remove(m.insert(small{uint64(i), Rest16{1}})) {
			failed++
		}
	}
	return
}

//go:noinline
func mapReadByHand(m *smallMap, ks []uint64, picks []uint32) (sum uint64) {
	for _, pick := range picks {
		if v := m.get(ks[pick]); v != nil {
			sum += v.ID
		}
	}
	return
}
