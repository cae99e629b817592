package pool_test

import (
	"testing"

	"coatcheck/pool"
)

func BenchmarkZWorker(b *testing.B) {
	p := pool.Must[small](nil)
	w := p.Worker()
	for i := range b.N {
		h, _ := w.Insert(small{uint64(i), 1})
		w.Remove(h)
	}
}
func BenchmarkZPool(b *testing.B) {
	p := pool.Must[small](nil)
	for i := range b.N {
		h, _ := p.Insert(small{uint64(i), 1})
		p.Remove(h)
	}
}
func BenchmarkZPin(b *testing.B) {
	p := pool.Must[small](nil)
	for range b.N {
		g := p.Pin()
		g.Unpin()
	}
}
func BenchmarkZLocked(b *testing.B) {
	lockedPair(b.N)
}
