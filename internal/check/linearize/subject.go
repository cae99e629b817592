package linearize

import (
	"iter"

	"coatcheck/pool"
)

// verbs are what a Pool and a Worker have in common.
type verbs interface {
	Insert(v Value) (Handle, error)
	InsertFunc(init func(h Handle, v *Value)) (Handle, error)
	Get(h Handle) (Value, bool)
	Remove(h Handle) bool
	Take(h Handle) (Value, bool)
}

// Subject is what is judged: a Pool, or a control that is known to be wrong.
type Subject interface {
	verbs
	Reserve() (*pool.Reservation[Value], error)
	View(h Handle, f func(*Value)) bool
	Contains(h Handle) bool
	InsertBatch(vs []Value, dst []Handle) ([]Handle, error)
	RemoveBatch(hs []Handle) int
	Pin() pool.Guard[Value]
	Worker() *pool.Worker[Value]
	All() iter.Seq2[Handle, *Value]
	Drain() iter.Seq2[Handle, Value]
	DeleteFunc(del func(Handle, *Value) bool) int
	Clear() int
}

// Maker makes the subject of one history.
type Maker func(o *pool.Options[Value]) Subject

// Pool makes the real thing.
func Pool(o *pool.Options[Value]) Subject { return pool.Must(o) }
