package storm

import (
	"fmt"
	"iter"
	"math/rand/v2"

	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// Subject is what is tortured: a pool, or a model of one with a known fault,
// which shows whether the torture would find that in a pool.
type Subject interface {
	// Part returns one goroutine's access, through a Worker if there are such
	// and that is asked for.
	Part(worker bool) Part
	Contains(h Handle) bool
	// All ranges over what is live, under a pin of its own, which comes back
	// also from a loop that was left by a panic.
	All() iter.Seq2[Handle, *Coupon]
	// Sweep removes some or all of what is live, in one of the ways there are,
	// and returns how many. A Subject that is not swept need not have it.
	Sweep(r *rand.Rand) int
	Stats() pool.Stats
	// Settle is called in the end, when nothing is live. It tells s what is
	// missing.
	Settle(s *Storm)
}

// Part is what one goroutine can do to a Subject, with all the ways to do it.
type Part struct {
	// Insert appends a handle for each coupon that was inserted. On an error
	// there are fewer; errMeant is a life that was given up.
	Insert []func(cs []Coupon, dst []Handle) ([]Handle, error)
	// Remove answers whether this call removed it. A verb that hands the value
	// over returns it.
	Remove []func(h Handle) (*Coupon, bool)
	// Get copies a value, and View calls f with it, each under a pin of its own.
	Get   func(h Handle) (Coupon, bool)
	View  func(h Handle, f func(c *Coupon)) bool
	Pin   func() Pin
	Close func()
}

// Pin is a pinned guard.
type Pin interface {
	Get(h Handle) (*Coupon, bool)
	Unpin()
}

// OneByOne makes a way to insert of a verb for single values.
func OneByOne(insert func(c Coupon) (Handle, error)) func([]Coupon, []Handle) ([]Handle, error) {
	return func(cs []Coupon, dst []Handle) ([]Handle, error) {
		for i := range cs {
			h, err := insert(cs[i])
			if err != nil {
				return dst, err
			}
			dst = append(dst, h)
		}
		return dst, nil
	}
}

// NewSubject makes a pool that is to be tortured. With scribble it is an object
// pool, whose Reset makes it seen at once that a slot was reclaimed.
func NewSubject(o Options, scribble bool) (Subject, error) {
	var reset func(*Coupon)
	if scribble {
		reset = func(c *Coupon) { c.Sign(Stamp{}) }
	}
	p, err := pool.New(options(o, reset))
	return subject{p}, err
}

// subject is a pool as a Subject.
type subject struct{ *pool.Pool[Coupon] }

func (s subject) Part(worker bool) Part {
	var v verbs.Shared[Coupon] = s.Pool
	done := func() {}
	if worker {
		w := s.Worker()
		v, done = w, w.Close
	}
	return Part{
		Insert: []func([]Coupon, []Handle) ([]Handle, error){
			OneByOne(v.Insert),
			OneByOne(func(c Coupon) (Handle, error) {
				return v.InsertFunc(func(_ Handle, to *Coupon) { to.Sign(c.Stamp()) })
			}),
			OneByOne(func(Coupon) (h Handle, err error) {
				defer func() {
					if v := recover(); v != nil {
						err = v.(error)
					}
				}()
				return v.InsertFunc(func(Handle, *Coupon) { panic(errMeant) })
			}),
			OneByOne(func(c Coupon) (Handle, error) {
				r, err := s.Reserve()
				if err != nil {
					return 0, err
				}
				r.Value().Sign(c.Stamp())
				return r.Commit(), nil
			}),
			OneByOne(func(Coupon) (Handle, error) {
				r, err := s.Reserve()
				if err != nil {
					return 0, err
				}
				r.Cancel()
				return 0, errMeant
			}),
			s.InsertBatch,
		},
		Remove: []func(Handle) (*Coupon, bool){
			func(h Handle) (*Coupon, bool) { return nil, v.Remove(h) },
			func(h Handle) (*Coupon, bool) {
				c, ok := v.Take(h)
				return &c, ok
			},
			func(h Handle) (*Coupon, bool) {
				n := s.RemoveBatch([]Handle{h, h})
				if n > 1 {
					panic(fmt.Sprintf("RemoveBatch removed %v twice", h))
				}
				return nil, n == 1
			},
		},
		Get:  v.Get,
		View: s.View,
		Pin: func() Pin {
			g := v.Pin()
			return &g
		},
		Close: done,
	}
}

func (s subject) Sweep(r *rand.Rand) (n int) {
	switch most := 1 + r.IntN(50); r.IntN(3) {
	case 0:
		return s.Clear()
	case 1:
		for range s.Drain() {
			if n++; n == most {
				break
			}
		}
		return n
	default:
		return s.DeleteFunc(func(Handle, *Coupon) bool { return r.IntN(4) == 0 })
	}
}

// Settle requires of the pool what every storm's end does.
func (s subject) Settle(to *Storm) {
	kind := Kind[Coupon]{Make: func(n uint64) Coupon { return Stamp{Number: uint32(n)}.Coupon() }}
	NewWorld(to, s.Pool, kind, 0, 0).count()
}
