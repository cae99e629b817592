package pool_test

import (
	"fmt"
	"testing"

	"coatcheck/pool"
)

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

// BenchmarkReserver compares a Reserver with Pool.Reserve, and with what both
// are dearer than, Insert. Goroutines have a Reserver each, or share one.
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
