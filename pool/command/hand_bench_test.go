//go:build !race

package command_test

import (
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

// hand is what one writes by hand for one goroutine: two slices.
type hand struct {
	insertions []item
	removals   []name
}

//go:noinline
func (b *hand) apply(p *pool.Pool[item]) (inserted, removed int) {
	for _, v := range b.insertions {
		if _, err := p.Insert(v); err == nil {
			inserted++
		}
	}
	removed = p.RemoveBatch(b.removals)
	b.insertions, b.removals = b.insertions[:0], b.removals[:0]
	return inserted, removed
}

//go:noinline
func (b *hand) discard() (n int) {
	n = len(b.insertions) + len(b.removals)
	b.insertions, b.removals = b.insertions[:0], b.removals[:0]
	return n
}

// BenchmarkByHand compares frames in which nothing is recorded with two slices.
func BenchmarkByHand(b *testing.B) {
	p := pool.Must[item](nil)
	buf, by := command.New(p), new(hand)
	calls := func(do func()) testkit.Work {
		return func(n int) {
			for range n {
				do()
			}
		}
	}
	b.Run("Apply of nothing", func(b *testing.B) {
		testkit.Versus(b, calls(func() { buf.Apply() }), calls(func() { by.apply(p) }))
	})
	b.Run("Discard of nothing", func(b *testing.B) {
		testkit.Versus(b, calls(func() { buf.Discard() }), calls(func() { by.discard() }))
	})
}
