// Package inside shows tests of other packages the inside of a pool: its arena, and what can
// be had through that. It is for tests alone. Fields that other packages do not export are
// reached by reflection, so the product has no hooks for tests.
package inside

import (
	"reflect"
	"runtime/debug"
	"sync"

	"coatcheck/internal/atom"
	"coatcheck/pool"
	"coatcheck/shard"
)

// Arena returns p's arena.
func Arena[T any](p *pool.Pool[T]) *shard.Arena[T] {
	return (*shard.Arena[T])(reflect.ValueOf(p).Elem().FieldByName("arena").Addr().UnsafePointer())
}

// making is held by NewTiny.
var making sync.Mutex

// NewTiny is New with pages of 1<<shift slots, so that small tests cross every boundary. It
// makes the arena of a new pool a second time.
//
// A finalizer may use the arena from another goroutine (pool/memory.go). So no garbage
// collection begins meanwhile, unless another goroutine calls for one.
func NewTiny[T any](opts *pool.Options[T], shift uint32) (*pool.Pool[T], error) {
	making.Lock()
	defer making.Unlock()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	p, err := pool.New(opts)
	if err != nil {
		return nil, err
	}
	a := Arena(p)
	c := a.Config
	c.Shift = shift
	*a = shard.Arena[T]{}
	a.Init(c)
	return p, nil
}

// Waiting returns how many removed slots wait, without a look at the others.
func Waiting[T any](p *pool.Pool[T]) int { return Arena(p).Waiting() }

// Unused returns how many slots have memory and were never handed to a shard.
func Unused[T any](p *pool.Pool[T]) int { return int(Arena(p).Table.Unused()) }

// Kept returns how many slots the Worker's arrays point to, in and beyond its reach.
func Kept[T any](w *pool.Worker[T]) (n int) {
	slots := reflect.ValueOf(w).Elem().FieldByName("slots")
	for _, name := range []string{"ready", "bag"} {
		list := slots.FieldByName(name)
		list = list.Slice(0, list.Cap())
		for i := range list.Len() {
			if !list.Index(i).FieldByName("slot").IsNil() {
				n++
			}
		}
	}
	return n
}

// Image returns the words and the values of all slots that have memory, for tests that
// want to see that nothing was written.
func Image[T any](p *pool.Pool[T]) (words []uint64, values []T) {
	t := Arena(p).Table.Pages()
	for i := range t.Limit {
		slot := shard.At[T](t, i)
		words = append(words, slot.Word.Load())
		values = append(values, slot.Value)
	}
	return words, values
}

// SetEpoch moves the pool's clock, for tests near its limit.
func SetEpoch[T any](p *pool.Pool[T], e uint64) {
	clock := reflect.ValueOf(p).Elem().FieldByName("domain").FieldByName("epoch")
	(*atom.Uint64)(clock.Addr().UnsafePointer()).Store(e)
}

// FailGrowth makes every growth of p fail, until the function that it returns is called. p
// must have no limit, no more than one page, and slots of more than 128 KiB: it is made to
// ask for pages of 2^31 of them, more than there are addresses. That is the one failure of
// an allocation that a program survives.
func FailGrowth[T any](p *pool.Pool[T]) (restore func()) {
	table := &Arena(p).Table
	t := table.Pages()
	if t.Limit > t.Mask+1 {
		panic("FailGrowth: the pool has several pages already")
	}
	broken := *t
	broken.Mask = 1<<31 - 1 // all indices lie in page 0 and are what they were
	table.Current.Store(&broken)
	return func() { table.Current.Store(t) }
}
