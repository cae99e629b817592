//go:build interleave

package pool

import (
	"context"
	"io"

	"coatcheck/internal/atom"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// What internal/check/explore looks at, in builds that explore schedules alone, and
// export_test.go's.

// NewTiny is New with units of 1<<(shift/2) slots, and pages that grow to 1<<shift.
func NewTiny[T any](opts *Options[T], shift uint8) (*Pool[T], error) {
	return NewSized(opts, slots.PageSizes{Unit: shift / 2, Page: shift, Most: shift + 2})
}

// NewSized is New with pages of the given sizes.
func NewSized[T any](opts *Options[T], sizes slots.PageSizes) (*Pool[T], error) {
	pl, err := opts.plan()
	if err != nil {
		return nil, err
	}
	pl.pages = sizes
	p := new(Pool[T])
	p.build(pl)
	return p, nil
}

// NewApart is NewSized of a pool without an Origin, whose slots begin apart, from an offset.
func NewApart[T any](opts *Options[T], sizes slots.PageSizes, offset uint32) (*Pool[T], error) {
	pl, err := opts.plan()
	if err != nil {
		return nil, err
	}
	pl.pages, pl.random = sizes, func() uint32 { return offset }
	p := new(Pool[T])
	p.build(pl)
	return p, nil
}

// ReadTiny is ReadFrom with the pages of NewTiny.
func ReadTiny[T any](r io.Reader, opts *Options[T], shift uint8) (*Pool[T], error) {
	return ReadSized(r, opts, slots.PageSizes{Unit: shift / 2, Page: shift, Most: shift + 2})
}

// ReadSized is ReadFrom with pages of the given sizes.
func ReadSized[T any](r io.Reader, opts *Options[T], sizes slots.PageSizes) (*Pool[T], error) {
	pl, err := opts.plan()
	if err != nil {
		return nil, err
	}
	pl.pages = sizes
	p := new(Pool[T])
	if err := p.restore(pl, r, asSaved(pl)); err != nil {
		return nil, err
	}
	return p, nil
}

// CloneTiny is Clone with the pages of NewTiny.
func CloneTiny[T any](p *Pool[T], opts *Options[T], copy func(dst, src *T), shift uint8) (*Pool[T], error) {
	return CloneSized(p, opts, copy, slots.PageSizes{Unit: shift / 2, Page: shift, Most: shift + 2})
}

// CloneSized is Clone with pages of the given sizes. In each run of a program its slots skip equally many lives.
func CloneSized[T any](p *Pool[T], opts *Options[T], copy func(dst, src *T), sizes slots.PageSizes) (*Pool[T], error) {
	pl, err := opts.plan()
	if err != nil {
		return nil, err
	}
	pl.pages, pl.random = sizes, func() uint32 { return 5 }
	q := new(Pool[T])
	if err := q.clone(&p.core, pl, copierOf(copy)); err != nil {
		return nil, err
	}
	return q, nil
}

func Arena[T any](p *Pool[T]) *shard.Arena { return &p.arena }

func Domain[T any](p *Pool[T]) *tracedDomain { return &p.domain }

// TracedOpen returns how many guards and Refs Options.TraceGuards has records of and takes to be open.
func TracedOpen[T any](p *Pool[T]) (guards, refs int, traces bool) {
	t := p.tracer
	if t == nil {
		return 0, 0, false
	}
	t.refresh()
	return len(t.pinned), len(t.held), true
}

func Slot[T any](p *Pool[T], i uint32) *slots.Slot[T] { return slots.At[T](p.arena.Table.Pages(), i) }

func Magazine[T any](w *Worker[T]) *shard.Magazine { return w.slots }

func IsClosed[T any](w *Worker[T]) bool { return w.pool == nil }

func DropWorker[T any](w *Worker[T]) { w.end.dropped() }

func DropReservation[T any](r *Reservation[T]) { r.core.dropped(r.open) }

func IsOpen[T any](r *Reservation[T]) bool { return r.open.h.Load() != 0 }

func CopyWithoutPin(enabled bool) { atom.CopiesWithoutPin = enabled }

// ClosedWorker is the text of a panic.
const ClosedWorker = shard.Closed

// EachAlone is what one goroutine of Each does.
func EachAlone[T any](p *Pool[T], f func(Handle[T], *T) error) error {
	e := p.newEach(context.Background(), 1, callsOf(f))
	for k := range e.shares {
		e.work(&e.shares[k])
	}
	return e.result()
}
