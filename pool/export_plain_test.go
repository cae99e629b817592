//go:build !interleave

package pool

import "io"

// What export_interleave.go has in builds that explore schedules.

// NewTiny is New with pages of 1<<shift slots, so that small tests cross every boundary.
func NewTiny[T any](opts *Options[T], shift uint32) (*Pool[T], error) {
	pl, err := opts.plan()
	if err != nil {
		return nil, err
	}
	pl.shift = shift
	p := new(Pool[T])
	p.build(pl)
	return p, nil
}

// ReadTiny is ReadFrom with pages of 1<<shift slots.
func ReadTiny[T any](r io.Reader, opts *Options[T], shift uint32) (*Pool[T], error) {
	pl, err := opts.plan()
	if err != nil {
		return nil, err
	}
	pl.shift = shift
	p := new(Pool[T])
	if err := p.restore(pl, r, asSaved(pl)); err != nil {
		return nil, err
	}
	return p, nil
}
