//go:build !interleave

package pool

import (
	"io"

	"coatcheck/shard/slots"
)

// What export_interleave.go has in builds that explore schedules.

// NewTiny is New with units of 1<<(shift/2) slots, and pages that grow to 1<<shift, so that small
// tests cross every boundary.
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
	pl, err := opts.plan()
	if err != nil {
		return nil, err
	}
	pl.pages = slots.PageSizes{Unit: shift / 2, Page: shift, Most: shift + 2}
	q := new(Pool[T])
	if err := q.clone(&p.core, pl, copierOf(copy)); err != nil {
		return nil, err
	}
	return q, nil
}
