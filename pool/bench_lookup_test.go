package pool_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"coatcheck/epoch"
	"coatcheck/pool"
)

// BenchmarkPin has two floors: two compare-and-swaps of which nobody wants to
// know how they went, and two that are looked at, as a claim and a release must
// be. The processor does not begin a locked instruction before the branch on the
// one before is decided.
func BenchmarkPin(b *testing.B) {
	pin := func() work {
		p := pool.Must[small](nil)
		return func(n int) {
			for range n {
				g := p.Pin()
				g.Unpin()
			}
		}
	}
	b.Run("impl=pool/base=locked", func(b *testing.B) {
		word := new(atomic.Uint64)
		versus(b, pin(), func(n int) {
			word.Store(0)
			for i := range uint64(n) {
				word.CompareAndSwap(2*i, 2*i+1)
				word.CompareAndSwap(2*i+1, 2*i+2)
			}
		})
	})
	b.Run("impl=pool/base=claim+release", func(b *testing.B) {
		word := new(atomic.Uint64)
		versus(b, pin(), func(n int) {
			for range n {
				w := word.Load()
				if !word.CompareAndSwap(w, w|1) || !word.CompareAndSwap(w|1, w+2) {
					b.Error("nobody else is there")
				}
			}
		})
	})
}

// BenchmarkLookup looks values up in random order.
func BenchmarkLookup(b *testing.B) {
	for _, live := range []int{1, 10_000, 1_000_000} {
		f := fillAll(live, true)
		mask := len(f.hs) - 1
		b.Run(fmt.Sprintf("impl=guard/base=plainmap/live=%d", live), func(b *testing.B) {
			versus(b, func(n int) {
				g := f.p.Pin()
				defer g.Unpin()
				sum := uint64(0)
				for i := range n {
					if v, ok := g.Get(f.hs[i&mask]); ok {
						sum += v.twice
					}
				}
				sink.Add(sum)
			}, func(n int) {
				sum := uint64(0)
				for i := range n {
					if v, ok := f.plain.Get(f.ks[i&mask]); ok {
						sum += v.twice
					}
				}
				sink.Add(sum)
			})
		})
		b.Run(fmt.Sprintf("impl=contains/base=plainmap/live=%d", live), func(b *testing.B) {
			versus(b, func(n int) {
				sum := uint64(0)
				for i := range n {
					if f.p.Contains(f.hs[i&mask]) {
						sum++
					}
				}
				sink.Add(sum)
			}, func(n int) {
				sum := uint64(0)
				for i := range n {
					if f.plain.Contains(f.ks[i&mask]) {
						sum++
					}
				}
				sink.Add(sum)
			})
		})
		get := func() work {
			return func(n int) {
				sum := uint64(0)
				for i := range n {
					if v, ok := f.p.Get(f.hs[i&mask]); ok {
						sum += v.twice
					}
				}
				sink.Add(sum)
			}
		}
		for _, g := range []int{1, 2} {
			b.Run(fmt.Sprintf("impl=pool/base=rwmutexmap/live=%d/goroutines=%d", live, g), func(b *testing.B) {
				versus(b, on(g, get), on(g, func() work {
					return func(n int) {
						sum := uint64(0)
						for i := range n {
							if v, ok := f.rw.Get(f.ks[i&mask]); ok {
								sum += v.twice
							}
						}
						sink.Add(sum)
					}
				}))
			})
		}
		b.Run(fmt.Sprintf("impl=pool/base=syncmap/live=%d", live), func(b *testing.B) {
			versus(b, get(), func(n int) {
				sum := uint64(0)
				for i := range n {
					if v, ok := f.sm.Load(uint64(f.ks[i&mask].index)); ok {
						sum += v.(small).twice
					}
				}
				sink.Add(sum)
			})
		})
	}
}

// BenchmarkRange sums a million values.
func BenchmarkRange(b *testing.B) {
	const live = 1_000_000
	f := fillAll(live, false)
	values := make([]small, live)
	for i := range values {
		values[i] = small{uint64(i), 1}
	}
	base := func(n int) {
		for range n {
			sum := uint64(0)
			for i := range values {
				sum += values[i].twice
			}
			sink.Add(sum)
		}
	}
	b.Run("impl=all/base=slice", func(b *testing.B) {
		versus(b, func(n int) {
			for range n {
				sum := uint64(0)
				for _, v := range f.p.All() {
					sum += v.twice
				}
				sink.Add(sum)
			}
		}, base)
	})
	b.Run("impl=pages/base=slice", func(b *testing.B) {
		versus(b, func(n int) {
			for range n {
				sum := uint64(0)
				g := f.p.Pin()
				for _, page := range g.Pages() {
					for _, v := range page {
						sum += v.twice
					}
				}
				g.Unpin()
				sink.Add(sum)
			}
		}, base)
	})
}

// BenchmarkEach calls a function for each value, on one goroutine, against a loop
// under one guard that does so.
func BenchmarkEach(b *testing.B) {
	for _, live := range []int{10_000, 200_000} {
		f := fillAll(live, false)
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		sum := uint64(0)
		call := func(_ pool.Handle[small], v *small) error {
			sum += v.twice
			return nil
		}
		b.Run(fmt.Sprintf("impl=each/base=guard/live=%d", live), func(b *testing.B) {
			versus(b, func(n int) {
				for range n {
					_ = f.p.Each(ctx, 1, call)
				}
				sink.Add(sum)
			}, func(n int) {
				for range n {
					g := f.p.Pin()
					for h, v := range g.All() {
						if call(h, v) != nil {
							break
						}
					}
					g.Unpin()
				}
				sink.Add(sum)
			})
		})
	}
}

// The benchmarks from here on put a pool, or a domain, that has seen many guards
// beside one that has not. What is wanted is a ratio of at most 2.

// manyGuards is how many guards there were, openGuards how many there are.
const (
	manyGuards = 10_000
	openGuards = 32_000
)

// BenchmarkAfterGuards does pairs when so many guards have gone, in the order in
// which they came or in any.
func BenchmarkAfterGuards(b *testing.B) {
	pairs := func(p *pool.Pool[small]) work {
		return func(n int) {
			for i := range n {
				h, _ := p.Insert(small{uint64(i), 1})
				p.Remove(h)
			}
		}
	}
	workerPairs := func(p *pool.Pool[small]) work {
		w := p.Worker()
		b.Cleanup(w.Close)
		return func(n int) {
			for i := range n {
				h, _ := w.Insert(small{uint64(i), 1})
				w.Remove(h)
			}
		}
	}
	for name, do := range map[string]func(*pool.Pool[small]) work{"pool": pairs, "worker": workerPairs} {
		for _, order := range []string{"any", "same"} {
			b.Run(fmt.Sprintf("impl=%s/order=%s", name, order), func(b *testing.B) {
				p := pool.Must[small](nil)
				guards := make([]pool.Guard[small], manyGuards)
				for i := range guards {
					guards[i] = p.Pin()
				}
				for _, i := range leaving(order) {
					guards[i].Unpin()
				}
				versus(b, do(p), do(pool.Must[small](nil)))
			})
		}
	}
}

// BenchmarkScanAfterGuards retires and looks whether the grace period of a tag is
// over when so many guards have gone and a few have not.
func BenchmarkScanAfterGuards(b *testing.B) {
	for _, stay := range []int{0, 1, 10} {
		scans := func(many int) work {
			d := epoch.New()
			guards := make([]epoch.Guard, many)
			for i := range guards {
				guards[i] = d.Pin()
			}
			order := rand.New(rand.NewPCG(1, 2)).Perm(many)
			for _, i := range order[stay:] {
				guards[i].Unpin()
			}
			return func(n int) {
				for range n {
					d.Passed(d.Retire())
				}
			}
		}
		b.Run(fmt.Sprintf("stay=%d", stay), func(b *testing.B) {
			versus(b, scans(manyGuards), scans(stay))
		})
	}
}

// BenchmarkPinBesideGuards pins while so many others are pinned, and none: all of
// them by this goroutine, or each by another.
func BenchmarkPinBesideGuards(b *testing.B) {
	pins := func(p *pool.Pool[small]) work {
		return func(n int) {
			for range n {
				g := p.Pin()
				g.Unpin()
			}
		}
	}
	for _, by := range []string{"one", "many"} {
		b.Run(fmt.Sprintf("impl=pool/by=%s", by), func(b *testing.B) {
			p := pool.Must[small](nil)
			guards := make([]pool.Guard[small], openGuards)
			for i := range guards {
				if by == "one" {
					guards[i] = p.Pin()
					continue
				}
				done := make(chan bool)
				go func() { guards[i] = p.Pin(); close(done) }()
				<-done
			}
			versus(b, pins(p), pins(pool.Must[small](nil)))
			for i := range guards {
				guards[i].Unpin()
			}
		})
	}
	b.Run("impl=epoch", func(b *testing.B) {
		pins := func(d *epoch.Domain) work {
			return func(n int) {
				for range n {
					g := d.Pin()
					g.Unpin()
				}
			}
		}
		d := epoch.New()
		for range openGuards {
			d.Pin()
		}
		versus(b, pins(d), pins(epoch.New()))
	})
	b.Run("impl=get", func(b *testing.B) {
		gets := func(p *pool.Pool[small]) work {
			h, _ := p.Insert(small{})
			return func(n int) {
				for range n {
					p.Get(h)
				}
			}
		}
		p := pool.Must[small](nil)
		guards := make([]pool.Guard[small], openGuards)
		for i := range guards {
			guards[i] = p.Pin()
		}
		versus(b, gets(p), gets(pool.Must[small](nil)))
		for i := range guards {
			guards[i].Unpin()
		}
	})
}

// BenchmarkOpenGuards opens many guards and closes them in any order; its baseline
// pins as often, one at a time.
func BenchmarkOpenGuards(b *testing.B) {
	p, q := pool.Must[small](nil), pool.Must[small](nil)
	guards, order := make([]pool.Guard[small], manyGuards), leaving("any")
	versus(b, func(n int) {
		for range n {
			for i := range guards {
				guards[i] = p.Pin()
			}
			for _, i := range order {
				guards[i].Unpin()
			}
		}
	}, func(n int) {
		for range n * manyGuards {
			g := q.Pin()
			g.Unpin()
		}
	})
}

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

// BenchmarkGuardedPair inserts and removes under a guard of its own each time, in a pool
// with a Capacity, whose removals are told apart by the guards between them, beside one
// without.
func BenchmarkGuardedPair(b *testing.B) {
	type verbs interface {
		Insert(small) (pool.Handle[small], error)
		Remove(pool.Handle[small]) bool
		Pin() pool.Guard[small]
	}
	pairs := func(p verbs) work {
		return func(n int) {
			for i := range n {
				g := p.Pin()
				h, _ := p.Insert(small{uint64(i), 1})
				p.Remove(h)
				g.Unpin()
			}
		}
	}
	bounded := &pool.Options[small]{Capacity: 1000}
	b.Run("impl=pool/base=unbounded", func(b *testing.B) {
		versus(b, pairs(pool.Must(bounded)), pairs(pool.Must[small](nil)))
	})
	b.Run("impl=worker/base=unbounded", func(b *testing.B) {
		w, base := pool.Must(bounded).Worker(), pool.Must[small](nil).Worker()
		defer w.Close()
		defer base.Close()
		versus(b, pairs(w), pairs(base))
	})
}
