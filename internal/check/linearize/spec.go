package linearize

import (
	"github.com/anishathalye/porcupine"
)

// life is the state of one handle: unborn, reserved, dead, or live with a value's number.
//
//	unborn ── Reserve ──▶ reserved ── Cancel ──▶ dead
//	   │                      │                    ▲
//	   │                   Commit            Remove, Take, Sweep
//	   │                      ▼                    │
//	   └────── Insert ──▶ live(value) ─────────────┘
//
// No state leads back to unborn: a handle that is issued twice, or that is live again, has
// no explanation.
type life uint64

const (
	unborn life = iota
	reserved
	dead
	firstLive // values count from here
)

func (l life) live() bool { return l >= firstLive }

// step is the sequential specification. It returns whether an operation can have its result
// on a handle in state l, and the state after it.
func step(l life, r *Record) (bool, life) {
	switch r.Effect {
	case Reserve:
		return l == unborn, reserved
	case Insert:
		return l == unborn, life(r.Value)
	case Commit:
		return l == reserved, life(r.Value)
	case Cancel:
		return l == reserved, dead
	case Look:
		return r.OK == l.live(), l
	case Read:
		return r.OK == l.live() && (!r.OK || life(r.Value) == l), l
	case Remove:
		return r.OK == l.live(), l.ended()
	case Take:
		return r.OK == l.live() && (!r.OK || life(r.Value) == l), l.ended()
	case Sweep:
		return true, l.ended()
	}
	return false, l
}

func (l life) ended() life {
	if l.live() {
		return dead
	}
	return l
}

// model is step in porcupine's form, for one handle.
var model = porcupine.Model{
	Init: func() any { return unborn },
	Step: func(state, input, _ any) (bool, any) {
		ok, next := step(state.(life), input.(*Record))
		return ok, next
	},
}
