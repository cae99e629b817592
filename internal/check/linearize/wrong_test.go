package linearize

import (
	"iter"
	"runtime"
	"sync"

	"go.uber.org/atomic"

	"coatcheck/pool"
)

// The pools of this file are wrong on purpose. Each wraps a real pool, and some of its verbs
// have a bug that a pool may well have. None has a data race.

// wrongly returns a Maker of pools that wrap changes.
func wrongly(wrap func(Subject) Subject) Maker {
	return func(o *pool.Options[Value]) Subject { return wrap(Pool(o)) }
}

// handles is a set of handles.
type handles struct{ m sync.Map }

func (s *handles) add(h Handle)      { s.m.Store(h, true) }
func (s *handles) remove(h Handle)   { s.m.Delete(h) }
func (s *handles) has(h Handle) bool { _, ok := s.m.Load(h); return ok }

// loadAndStore removes by a load and a store, so two removers may both succeed.
type loadAndStore struct{ Subject }

func (s loadAndStore) Remove(h Handle) bool {
	live := s.Subject.Contains(h)
	runtime.Gosched()
	s.Subject.Remove(h)
	return live
}

// nextLife ignores the generation, so Get of a stale handle returns the next incarnation's value.
type nextLife struct{ Subject }

func (s nextLife) Get(h Handle) (Value, bool) {
	for o, v := range s.Subject.All() {
		if o.Index() == h.Index() && h.Generation() >= controlOrigin {
			return *v, true
		}
	}
	return Value{}, false
}

// reissues sets a slot's generation back when the slot is reused.
type reissues struct{ Subject }

func (s reissues) Insert(v Value) (Handle, error) {
	h, err := s.Subject.Insert(v)
	if before := h - 2<<32; err == nil && before.Generation() >= controlOrigin {
		h = before
	}
	return h, err
}

// building has a value live while its constructor runs.
type building struct {
	Subject
	known handles
}

func (s *building) InsertFunc(init func(Handle, *Value)) (Handle, error) {
	return s.Subject.InsertFunc(func(h Handle, v *Value) {
		s.known.add(h)
		defer s.known.remove(h)
		runtime.Gosched()
		init(h, v)
	})
}

func (s *building) Contains(h Handle) bool { return s.known.has(h) || s.Subject.Contains(h) }

// unburnt has a value live whose constructor failed.
type unburnt struct{ Subject }

func (s unburnt) InsertFunc(init func(Handle, *Value)) (Handle, error) {
	var gaveUp any
	h, err := s.Subject.InsertFunc(func(h Handle, v *Value) {
		defer func() { gaveUp = recover() }()
		init(h, v)
	})
	if gaveUp != nil {
		panic(gaveUp)
	}
	return h, err
}

// loses returns ErrFull after an insertion that took effect.
type loses struct {
	Subject
	n atomic.Int64
}

func (s *loses) Insert(v Value) (Handle, error) {
	h, err := s.Subject.Insert(v)
	if err == nil && s.n.Inc()%8 == 0 {
		return 0, pool.ErrFull
	}
	return h, err
}

// skips leaves the first value out of loops.
type skips struct{ Subject }

func (s skips) All() iter.Seq2[Handle, *Value] {
	return func(yield func(Handle, *Value) bool) {
		first := true
		for h, v := range s.Subject.All() {
			if !first && !yield(h, v) {
				return
			}
			first = false
		}
	}
}

// spares does not clear the first value.
type spares struct{ Subject }

func (s spares) Clear() int {
	first := true
	return s.Subject.DeleteFunc(func(Handle, *Value) bool {
		defer func() { first = false }()
		return !first
	})
}

// miscounts counts a removal that had no effect.
type miscounts struct{ Subject }

func (s miscounts) RemoveBatch(hs []Handle) int {
	n := s.Subject.RemoveBatch(hs)
	if 0 < n && n < len(hs)-1 {
		n++
	}
	return n
}

// panics panics at the tenth look-up.
type panics struct {
	Subject
	n atomic.Int64
}

func (s *panics) Contains(h Handle) bool {
	if s.n.Inc() == 10 {
		panic("out of order")
	}
	return s.Subject.Contains(h)
}

// large has one slot too many.
func large(o *pool.Options[Value]) Subject {
	o.Capacity++
	return Pool(o)
}

// old begins with a generation that is too low.
func old(o *pool.Options[Value]) Subject {
	o.Origin -= 2
	return Pool(o)
}
