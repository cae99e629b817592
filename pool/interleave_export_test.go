//go:build interleave

package pool

import (
	"context"

	"coatcheck/epoch"
	"coatcheck/shard"
)

// What exploration looks at.

func Arena[T any](p *Pool[T]) *shard.Arena[T]         { return &p.arena }
func Domain[T any](p *Pool[T]) *tracedDomain          { return &p.domain }
func Slot[T any](p *Pool[T], i uint32) *shard.Slot[T] { return p.slot(i) }
func Reserved[T any](p *Pool[T]) int64                { return p.reserved.Load() }
func Magazine[T any](w *Worker[T]) *shard.Magazine[T] { return &w.slots }
func IsClosed[T any](w *Worker[T]) bool               { return w.pool == nil }
func DropWorker[T any](w *Worker[T])                  { w.drop() }
func DropReservation[T any](r *Reservation[T])        { dropReservation(r) }
func IsOpen[T any](r *Reservation[T]) bool            { return r.state.Load() == open }
func PinOf[T any](g *Guard[T]) epoch.Guard            { return g.pin }
func CopyWithoutPin(is bool)                          { copiesWithoutPin = is }

const ClosedWorker = closedWorker

// EachAlone is what a goroutine of Each does.
func EachAlone[T any](p *Pool[T], f func(Handle[T], *T) error) error {
	e := each[T]{pool: p, ctx: context.Background(), pages: p.pages(), size: 8}
	e.f = f
	err := e.work()
	if e.panicked.Load() {
		panic(e.panic)
	}
	return err
}

// KeepBlocks keeps what the Reserver makes from being dropped, and TakeBlock leaves one cell of its block.
func KeepBlocks[T any](v *Reserver[T]) { v.dropped = func(*block[T]) {} }
func TakeBlock[T any](v *Reserver[T])  { v.current.Load().taken.Store(blockCells - 1) }
