package verbs

import "fmt"

// This file is the sequential specification of a pool, and stands alone. The judges ask it what is
// right, and add what only they know.
//
// It specifies one handle, since the lives of different handles are independent. A handle has a
// [Life]. Whatever the verb, what a call says about a handle is one of nine effects, such as
// that it was removed by this call, with that value: a [Report]. [Step] tells whether a report is
// right for a handle in some state, and which state the handle has afterwards. Say that h is live
// with value 7. Then "take: 7" is right, and h is dead afterwards. "take: 8" and "take: no" are
// wrong. Once h is dead, of these only "take: no" is right.
//
//   - Where calls follow one another, there is one state, and so one right report ([Model]).
//   - Where calls overlap, a judge knows some states in which a call can have met the handle. The
//     report must be right for one of them ([Report.Fits]).
//   - Where all reports on a handle are known, with their times, they must have an order in
//     which each is right after those before it. A checker searches for it by Step.

// Life is the state of one handle: unborn, reserved, dead, or live with a value's number.
//
//	unborn ── Reserve ──▶ reserved ── Cancel ──▶ dead
//	   │                      │                    ▲
//	   │                   Commit            Remove, Take, Sweep
//	   │                      ▼                    │
//	   └────── Insert ──▶ live(value) ─────────────┘
//
// No state leads back to unborn: a handle that is issued twice, or that is live again, is wrong
// in every order.
//
// No arrow leads from one live state to another: while a handle is live, its value belongs to those
// who hold the handle, and no verb of the pool may store another. A verb that replaces a value
// inserts the new one under a new handle, and removes the old one: two reports.
type Life uint64

// The states of a handle that is not live.
const (
	Unborn    Life = iota // no call has shown it
	Reserved              // it was shown to a constructor, or with a Reservation
	Dead                  // it was live or reserved, and never is again
	firstLive             // values count from here
)

// Live returns the state of a handle that is live with the value of this number.
func Live(number uint64) Life { return firstLive + Life(number) }

// IsLive reports whether the handle is live.
func (l Life) IsLive() bool { return l >= firstLive }

func (l Life) String() string {
	if l.IsLive() {
		return fmt.Sprintf("live with value %d", uint64(l-firstLive))
	}
	return [...]string{"unborn", "reserved", "dead"}[l]
}

// Effect is what a call says about one handle, whatever its verb.
type Effect uint8

// The effects, in the order of a life.
const (
	Reserve Effect = iota // an unborn handle was shown
	Insert                // an unborn handle went live, with Value
	Commit                // a reserved handle went live, with Value
	Cancel                // a reserved handle will never go live
	Look                  // OK: it is live
	Read                  // as Look, with Value
	Remove                // OK: this call removed it
	Take                  // as Remove, with Value
	Sweep                 // this call removed it if it was live
	Effects               // how many there are
)

func (e Effect) String() string {
	return [...]string{"reserve", "insert", "commit", "cancel", "look", "read", "remove", "take", "sweep"}[e]
}

// Report is an effect with its result. Only Look, Read, Remove and Take may be without OK. Value
// is a number, and counts only with OK.
type Report struct {
	Effect Effect
	OK     bool
	Value  uint64
}

func (r Report) String() string {
	switch {
	case !r.OK:
		return fmt.Sprintf("%v: no", r.Effect)
	case r.Value != 0:
		return fmt.Sprintf("%v: %d", r.Effect, r.Value)
	}
	return fmt.Sprintf("%v: yes", r.Effect)
}

// Step reports whether a call can say r about a handle in state l, and returns the state after it.
func Step(l Life, r Report) (ok bool, next Life) {
	ended := l
	if l.IsLive() {
		ended = Dead
	}
	same := r.OK == l.IsLive()
	whole := same && (!r.OK || Live(r.Value) == l)
	switch r.Effect {
	case Reserve:
		return l == Unborn, Reserved
	case Insert:
		return l == Unborn, Live(r.Value)
	case Commit:
		return l == Reserved, Live(r.Value)
	case Cancel:
		return l == Reserved, Dead
	case Look:
		return same, l
	case Read:
		return whole, l
	case Remove:
		return same, ended
	case Take:
		return whole, ended
	}
	return true, ended // Sweep
}

// Fits reports whether a call can say r about a handle that was in one of these states.
func (r Report) Fits(lives ...Life) bool {
	for _, l := range lives {
		if ok, _ := Step(l, r); ok {
			return true
		}
	}
	return false
}
