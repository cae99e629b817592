package pool_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// BenchmarkOldThings shows what a pool costs that keeps one old thing, against a pool without it: one open Ref,
// one value of a snapshot, or a peak that was trimmed. Rounds alternate:
//
//	go test -run '^$' -bench OldThings -benchtime 1x ./pool
//
// A pair is an insertion with its removal. A replacement is one among 1,000 values, of 64 bytes, which after a peak are
// what is left of a million, at random. The loops visit all slots of a pool of 100 values. The ratio is that of both
// pools: 1 is the goal.
func BenchmarkOldThings(b *testing.B) {
	plainPool := func() *pool.Pool[plain] {
		p := pool.Must[plain](nil)
		testkit.Fill(b, p, 1, func(int) plain { return plain{} })
		return p
	}
	restored := func(p *pool.Pool[plain]) *pool.Pool[plain] {
		var saved bytes.Buffer
		if _, err := p.WriteTo(&saved); err != nil {
			b.Fatal(err)
		}
		c, err := pool.ReadFrom[plain](&saved, nil)
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	held := func() *pool.Pool[plain] {
		p := plainPool()
		if _, ok := p.Hold(testkit.MustInsert(b, p, plain{})); !ok {
			b.Fatal("the value should be live")
		}
		return p
	}
	pairs := func(insert func(plain) (pool.Handle[plain], error), remove func(pool.Handle[plain]) bool) testkit.Work {
		return func(n int) {
			for i := range n {
				if h, err := insert(plain{uint64(i), 1}); err == nil {
					remove(h)
				}
			}
		}
	}
	for what, p := range map[string]*pool.Pool[plain]{"held": held(), "restored": restored(plainPool())} {
		base := plainPool()
		b.Run("pair/"+what, func(b *testing.B) {
			testkit.Versus(b, pairs(p.Insert, p.Remove), pairs(base.Insert, base.Remove))
		})
		b.Run("pair by a Worker/"+what, func(b *testing.B) {
			w, baseWorker := p.Worker(), base.Worker()
			defer w.Close()
			defer baseWorker.Close()
			testkit.Versus(b, pairs(w.Insert, w.Remove), pairs(baseWorker.Insert, baseWorker.Remove))
		})
	}

	// replacing returns a pool with 1,000 values that once had so many, and the work that replaces them.
	type wide [8]uint64
	replacing := func(b *testing.B, peak int) (*pool.Pool[wide], testkit.Work) {
		p := pool.Must[wide](nil)
		hs := testkit.Fill(b, p, peak, func(int) wide { return wide{} })
		r := rand.New(rand.NewPCG(1, 0))
		r.Shuffle(peak, func(i, j int) { hs[i], hs[j] = hs[j], hs[i] })
		for _, h := range hs[1000:] {
			p.Remove(h)
		}
		hs = hs[:1000]
		return p, func(n int) {
			for range n {
				i := r.IntN(len(hs))
				p.Remove(hs[i])
				hs[i], _ = p.Insert(wide{})
			}
		}
	}
	for what, reclaim := range map[string]func(p *pool.Pool[wide]){
		"a peak":             func(*pool.Pool[wide]) {},
		"a synchronized one": func(p *pool.Pool[wide]) { _ = p.Synchronize(context.Background()) },
		"a trimmed one":      func(p *pool.Pool[wide]) { p.Trim() },
	} {
		b.Run("replace after "+what, func(b *testing.B) {
			p, after := replacing(b, 1<<20)
			reclaim(p)
			_, base := replacing(b, 1000)
			testkit.Versus(b, after, base)
		})
	}

	const left = 100
	small := pool.Must[plain](nil)
	testkit.Fill(b, small, left, func(int) plain { return plain{} })
	trimmed := pool.Must[plain](nil)
	hs := testkit.Fill(b, trimmed, 1<<20, func(int) plain { return plain{} })
	trimmed.RemoveBatch(hs[left:])
	if err := trimmed.Synchronize(context.Background()); err != nil {
		b.Fatal(err)
	}
	trimmed.Trim()
	for what, p := range map[string]*pool.Pool[plain]{"trimmed": trimmed, "copy of a trimmed pool": restored(trimmed)} {
		for name, loop := range map[string]func(p *pool.Pool[plain]){
			"Len":   func(p *pool.Pool[plain]) { p.Len() },
			"Stats": func(p *pool.Pool[plain]) { p.Stats() },
			"All": func(p *pool.Pool[plain]) {
				for range p.All() {
				}
			},
			"DeleteFunc": func(p *pool.Pool[plain]) { p.DeleteFunc(func(pool.Handle[plain], *plain) bool { return false }) },
			"Each": func(p *pool.Pool[plain]) {
				_ = p.Each(context.Background(), 1, func(pool.Handle[plain], *plain) error { return nil })
			},
			"WriteTo": func(p *pool.Pool[plain]) { _, _ = p.WriteTo(new(bytes.Buffer)) },
		} {
			b.Run("loop/"+name+"/"+what, func(b *testing.B) {
				of := func(p *pool.Pool[plain]) testkit.Work {
					return func(n int) {
						for range n {
							loop(p)
						}
					}
				}
				testkit.Versus(b, of(p), of(small))
			})
		}
	}
}
