package pool

import (
	"reflect"

	"coatcheck/internal/atom"
)

// Image returns the words and the values of all slots that have memory, for
// tests that want to see that nothing was written.
func Image[T any](p *Pool[T]) (words []uint64, values []T) {
	for i := range p.pages().Limit {
		slot := p.slot(i)
		words = append(words, slot.Word.Load())
		values = append(values, slot.Value)
	}
	return words, values
}

// SetEpoch moves the pool's clock, for tests near its limit. The field is
// another package's, and not worth a method of it.
func SetEpoch[T any](p *Pool[T], e uint64) {
	clock := reflect.ValueOf(&p.domain).Elem().FieldByName("epoch")
	(*atom.Uint64)(clock.Addr().UnsafePointer()).Store(e)
}

// FailGrowth makes every growth of p fail, until the function that it returns is
// called. p must have no limit, no more than one page, and slots of more than
// 128 KiB: it is made to ask for pages of 2^31 of them, more than there are
// addresses. That is the one failure of an allocation that a program survives.
func FailGrowth[T any](p *Pool[T]) (mend func()) {
	t := p.pages()
	if t.Limit > t.Mask+1 {
		panic("FailGrowth: the pool has several pages already")
	}
	broken := *t
	broken.Mask = 1<<31 - 1 // all indices lie in page 0 and are what they were
	p.arena.Table.Current.Store(&broken)
	return func() { p.arena.Table.Current.Store(t) }
}
