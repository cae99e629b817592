package pool_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// The benchmarks put the pool beside what it is measured against, on the same
// work, in one run: rounds of either alternate, so that whatever else the machine
// does hits both alike, and the ratio is the median over the rounds.
//
//	go test -run xxx -bench . -benchtime 1x ./pool
//
// prints, for each pair, ns/op of the pool, base-ns/op of the baseline, and their
// ratio: below 1 the pool is faster.

type work = testkit.Work

var (
	on     = testkit.On
	versus = testkit.Versus
)

// small is the value of most benchmarks: 16 bytes without pointers.
type small = plain

var sink atomic.Uint64

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
	b.Run("impl=worker/base=locked", func(b *testing.B) {
		p := pool.Must[small](nil)
		w := p.Worker()
		defer w.Close()
		versus(b, func(n int) {
			for i := range n {
				h, _ := w.Insert(small{uint64(i), 1})
				w.Remove(h)
			}
		}, lockedPair)
	})
	for _, g := range []int{1, 2} {
		b.Run(fmt.Sprintf("impl=pool/base=mutexmap/goroutines=%d", g), func(b *testing.B) {
			p := pool.Must[small](nil)
			m := new(mutexMap[small])
			versus(b, on(g, func() work {
				return func(n int) {
					for i := range n {
						h, _ := p.Insert(small{uint64(i), 1})
						p.Remove(h)
					}
				}
			}), on(g, func() work {
				return func(n int) {
					for i := range n {
						m.Remove(m.Insert(small{uint64(i), 1}))
					}
				}
			}))
		})
	}
	b.Run("impl=fifo/base=mutexmap", func(b *testing.B) {
		p := pool.Must[small](&pool.Options[small]{Reuse: pool.FIFO})
		m := new(mutexMap[small])
		versus(b, func(n int) {
			for i := range n {
				h, _ := p.Insert(small{uint64(i), 1})
				p.Remove(h)
			}
		}, func(n int) {
			for i := range n {
				m.Remove(m.Insert(small{uint64(i), 1}))
			}
		})
	})
}

// BenchmarkChurn replaces a random one of 1,000 live values.
func BenchmarkChurn(b *testing.B) {
	const live = 1000
	order := randomOrder(1<<12, live)
	base := func() work {
		m := new(mutexMap[small])
		ks := make([]key, live)
		for i := range ks {
			ks[i] = m.Insert(small{uint64(i), 1})
		}
		return func(n int) {
			for i := range n {
				k := order[i&(len(order)-1)]
				m.Remove(ks[k])
				ks[k] = m.Insert(small{uint64(i), 1})
			}
		}
	}
	type verbs interface {
		Insert(small) (pool.Handle[small], error)
		Remove(pool.Handle[small]) bool
	}
	fill := func(p verbs) []pool.Handle[small] {
		hs := make([]pool.Handle[small], live)
		for i := range hs {
			hs[i], _ = p.Insert(small{uint64(i), 1})
		}
		return hs
	}
	b.Run("impl=pool/base=mutexmap", func(b *testing.B) {
		p := pool.Must[small](nil)
		hs := fill(p)
		versus(b, func(n int) {
			for i := range n {
				k := order[i&(len(order)-1)]
				p.Remove(hs[k])
				hs[k], _ = p.Insert(small{uint64(i), 1})
			}
		}, base())
	})
	b.Run("impl=worker/base=mutexmap", func(b *testing.B) {
		w := pool.Must[small](nil).Worker()
		defer w.Close()
		hs := fill(w)
		versus(b, func(n int) {
			for i := range n {
				k := order[i&(len(order)-1)]
				w.Remove(hs[k])
				hs[k], _ = w.Insert(small{uint64(i), 1})
			}
		}, base())
	})
}

// BenchmarkBurst inserts many values and then removes them, in that order.
func BenchmarkBurst(b *testing.B) {
	const burst = 1000
	type verbs interface {
		Insert(small) (pool.Handle[small], error)
		Remove(pool.Handle[small]) bool
	}
	bursts := func(p verbs) work {
		hs := make([]pool.Handle[small], burst)
		return func(n int) {
			for ; n > 0; n -= burst {
				hs = hs[:min(n, burst)]
				for i := range hs {
					hs[i], _ = p.Insert(small{uint64(i), 1})
				}
				for _, h := range hs {
					p.Remove(h)
				}
				hs = hs[:cap(hs)]
			}
		}
	}
	m := new(mutexMap[small])
	ks := make([]key, burst)
	base := func(n int) {
		for ; n > 0; n -= burst {
			for i := range ks[:min(n, burst)] {
				ks[i] = m.Insert(small{uint64(i), 1})
			}
			for _, k := range ks[:min(n, burst)] {
				m.Remove(k)
			}
		}
	}
	b.Run("impl=pool/base=mutexmap", func(b *testing.B) { versus(b, bursts(pool.Must[small](nil)), base) })
	b.Run("impl=worker/base=mutexmap", func(b *testing.B) {
		w := pool.Must[small](nil).Worker()
		defer w.Close()
		versus(b, bursts(w), base)
	})
}

// BenchmarkHandover inserts on one goroutine and removes on another.
func BenchmarkHandover(b *testing.B) {
	const batch = 256
	handover := func(insert func(uint64) uint64, remove func(uint64)) work {
		return func(n int) {
			full, empty := make(chan []uint64, 4), make(chan []uint64, 4)
			for range cap(empty) {
				empty <- make([]uint64, 0, batch)
			}
			go func() {
				for i := 0; i < n; {
					hs := (<-empty)[:0]
					for ; len(hs) < batch && i < n; i++ {
						hs = append(hs, insert(uint64(i)))
					}
					full <- hs
				}
				close(full)
			}()
			for hs := range full {
				for _, h := range hs {
					remove(h)
				}
				empty <- hs
			}
		}
	}
	m := new(mutexMap[small])
	base := handover(func(i uint64) uint64 {
		k := m.Insert(small{i, 1})
		return uint64(k.generation)<<32 | uint64(k.index)
	}, func(h uint64) { m.Remove(key{uint32(h), uint32(h >> 32)}) })
	b.Run("impl=pool/base=mutexmap", func(b *testing.B) {
		p := pool.Must[small](nil)
		versus(b, handover(func(i uint64) uint64 {
			h, _ := p.Insert(small{i, 1})
			return uint64(h)
		}, func(h uint64) { p.Remove(pool.Handle[small](h)) }), base)
	})
	b.Run("impl=worker/base=mutexmap", func(b *testing.B) {
		p := pool.Must[small](nil)
		producer, consumer := p.Worker(), p.Worker()
		defer producer.Close()
		defer consumer.Close()
		versus(b, handover(func(i uint64) uint64 {
			h, _ := producer.Insert(small{i, 1})
			return uint64(h)
		}, func(h uint64) { consumer.Remove(pool.Handle[small](h)) }), base)
	})
}

// filled is a pool and its baselines with the same live values, all written, and
// their names in one random order.
type filled struct {
	p     *pool.Pool[small]
	hs    []pool.Handle[small]
	plain plainMap[small]
	rw    rwMutexMap[small]
	sm    sync.Map
	ks    []key
}

func fillAll(live int, syncMap bool) *filled {
	f := &filled{p: pool.Must[small](nil)}
	hs, ks := make([]pool.Handle[small], live), make([]key, live)
	for i := range live {
		v := small{uint64(i), 1}
		hs[i], _ = f.p.Insert(v)
		ks[i] = f.plain.Insert(v)
		f.rw.Insert(v)
		if syncMap {
			f.sm.Store(uint64(i), v)
		}
	}
	for _, i := range randomOrder(ceilPow2(min(live, 1<<20)), live) {
		f.hs, f.ks = append(f.hs, hs[i]), append(f.ks, ks[i])
	}
	return f
}

// randomOrder returns n indexes below live in random order; n is a power of two.
func randomOrder(n, live int) []int {
	r := rand.New(rand.NewPCG(1, 2))
	order := make([]int, n)
	for i := range order {
		order[i] = r.IntN(live)
	}
	return order
}

func ceilPow2(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

// BenchmarkFill inserts 10,000 values into a new pool, New included.
func BenchmarkFill(b *testing.B) {
	const live = 10_000
	b.Run("impl=pool/base=mutexmap", func(b *testing.B) {
		versus(b, func(n int) {
			for range n {
				p := pool.Must[small](nil)
				for i := range live {
					p.Insert(small{uint64(i), 1})
				}
			}
		}, func(n int) {
			for range n {
				m := new(mutexMap[small])
				for i := range live {
					m.Insert(small{uint64(i), 1})
				}
			}
		})
	})
}

// BenchmarkGC times a garbage collection with five million live values, against
// a map of pointers to as many.
func BenchmarkGC(b *testing.B) {
	const live = 5_000_000
	measureGC := func() float64 {
		runtime.GC()
		runtime.GC()
		times := make([]float64, 7)
		for i := range times {
			times[i] = testkit.Timed(runtime.GC)
		}
		return testkit.Median(times)
	}
	b.Run("impl=pool/base=map", func(b *testing.B) {
		for b.Loop() {
			empty := measureGC()
			p := pool.Must[small](nil)
			for i := range live {
				p.Insert(small{uint64(i), 1})
			}
			ours := measureGC()
			runtime.KeepAlive(p)
			p = nil
			m := make(map[uint64]*small, live)
			for i := range uint64(live) {
				m[i] = &small{i, 1}
			}
			theirs := measureGC()
			runtime.KeepAlive(m)
			b.ReportMetric(ours, "ns/op")
			b.ReportMetric(theirs, "base-ns/op")
			b.ReportMetric(empty, "empty-ns/op")
			b.ReportMetric(ours/theirs, "ratio")
			b.ReportMetric((ours-empty)/(theirs-empty), "net-ratio")
		}
	})
}

// reserving makes, fills, settles and removes one value after the other.
func reserving(p *pool.Pool[small], reserve func() (*pool.Reservation[small], error)) work {
	return func(n int) {
		for i := range n {
			r, _ := reserve()
			*r.Value() = small{uint64(i), 1}
			p.Remove(r.Commit())
		}
	}
}

// BenchmarkReserver compares a Reserver with Pool.Reserve and with Insert, which is cheaper.
// Goroutines have a Reserver each, or share one.
func BenchmarkReserver(b *testing.B) {
	for _, g := range []int{1, 2} {
		p := pool.Must[small](nil)
		shared := p.Reserver()
		subjects := map[string]func() work{
			"own":    func() work { return reserving(p, p.Reserver().Reserve) },
			"shared": func() work { return reserving(p, shared.Reserve) },
		}
		bases := map[string]func() work{
			"reserve": func() work { return reserving(p, p.Reserve) },
			"insert": func() work {
				return func(n int) {
					for i := range n {
						h, _ := p.Insert(small{uint64(i), 1})
						p.Remove(h)
					}
				}
			},
		}
		for _, pair := range [][2]string{{"own", "reserve"}, {"own", "insert"}, {"shared", "reserve"}} {
			b.Run(fmt.Sprintf("impl=%s/base=%s/goroutines=%d", pair[0], pair[1], g), func(b *testing.B) {
				versus(b, on(g, subjects[pair[0]]), on(g, bases[pair[1]]))
			})
		}
	}
}

// The baselines of the benchmarks: what a good engineer writes in an afternoon.

// entry is a slot of the baselines' slot maps: odd generations are live.
type entry[T any] struct {
	generation uint32
	value      T
}

// key names an entry: index and generation.
type key struct{ index, generation uint32 }

// plainMap is a slot map for one goroutine: a slice of entries and a stack of
// free indexes.
type plainMap[T any] struct {
	entries []entry[T]
	free    []uint32
}

func (m *plainMap[T]) Insert(v T) key {
	if n := len(m.free); n > 0 {
		i := m.free[n-1]
		m.free = m.free[:n-1]
		e := &m.entries[i]
		e.generation++
		e.value = v
		return key{i, e.generation}
	}
	m.entries = append(m.entries, entry[T]{1, v})
	return key{uint32(len(m.entries) - 1), 1}
}

func (m *plainMap[T]) Remove(k key) bool {
	if int(k.index) >= len(m.entries) || m.entries[k.index].generation != k.generation {
		return false
	}
	e := &m.entries[k.index]
	e.generation++
	var zero T
	e.value = zero
	m.free = append(m.free, k.index)
	return true
}

func (m *plainMap[T]) Get(k key) (*T, bool) {
	if int(k.index) >= len(m.entries) {
		return nil, false
	}
	e := &m.entries[k.index]
	if e.generation != k.generation {
		return nil, false
	}
	return &e.value, true
}

func (m *plainMap[T]) Contains(k key) bool {
	return int(k.index) < len(m.entries) && m.entries[k.index].generation == k.generation
}

// mutexMap is a plainMap under a mutex.
type mutexMap[T any] struct {
	mu sync.Mutex
	plainMap[T]
}

func (m *mutexMap[T]) Insert(v T) key {
	m.mu.Lock()
	k := m.plainMap.Insert(v)
	m.mu.Unlock()
	return k
}

func (m *mutexMap[T]) Remove(k key) bool {
	m.mu.Lock()
	ok := m.plainMap.Remove(k)
	m.mu.Unlock()
	return ok
}

// rwMutexMap is a plainMap under a readers' and writer's mutex.
type rwMutexMap[T any] struct {
	mu sync.RWMutex
	plainMap[T]
}

func (m *rwMutexMap[T]) Get(k key) (v T, ok bool) {
	m.mu.RLock()
	if p, found := m.plainMap.Get(k); found {
		v, ok = *p, true
	}
	m.mu.RUnlock()
	return v, ok
}
