//go:build linux

package main

import (
	"errors"
	"sync"
	"sync/atomic"
)

// byHand does the same without a pool: pointers that are kept for good, a list of free
// ones, and a generation in the upper half of the word. The generation wraps, and memory
// is never given back to the collector.
type byHand struct {
	// all has the operators, by the lower half of the word.
	//
	//	writers  vacant, under mu
	//	readers  the loops and each, without mu
	//	moves    nil → an operator, once
	//	orders   the store publishes the operator's word
	all [mostByHand]atomic.Pointer[operator]

	mu   sync.Mutex
	made int
	free []*operator
}

func newByHand() operators { return &byHand{} }

const mostByHand = 4096 // connections at a time; more are turned away

const generation = 1 << 32 // one generation, in a word

func (t *byHand) add(fd int, init func(o *operator) error) error {
	o := t.vacant()
	if o == nil {
		return errors.New("no operator is free")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fd = fd
	err := init(o)
	if err != nil {
		t.remove(o)
	}
	return err
}

// vacant returns a free operator, or nil.
func (t *byHand) vacant() *operator {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last := len(t.free) - 1; last >= 0 {
		o := t.free[last]
		t.free = t.free[:last]
		return o
	}
	if t.made == mostByHand {
		return nil
	}
	o := &operator{word: generation | uint64(t.made), fd: -1}
	t.all[t.made].Store(o)
	t.made++
	return o
}

func (t *byHand) remove(o *operator) {
	o.word += generation
	recycle(o)
	t.mu.Lock()
	t.free = append(t.free, o)
	t.mu.Unlock()
}

func (t *byHand) each(f func(o *operator)) {
	for i := range t.all {
		o := t.all[i].Load()
		if o == nil {
			return // they are stored in order
		}
		o.mu.Lock()
		if o.fd >= 0 {
			f(o)
		}
		o.mu.Unlock()
	}
}

func (t *byHand) batches() batch { return t }

func (t *byHand) begin() {}
func (t *byHand) end()   {}

func (t *byHand) find(word uint64) *operator {
	slot := uint32(word)
	if slot >= mostByHand {
		return nil
	}
	o := t.all[slot].Load()
	if o == nil {
		return nil
	}
	o.mu.Lock()
	if o.word != word || o.fd < 0 {
		o.mu.Unlock()
		return nil
	}
	return o
}
