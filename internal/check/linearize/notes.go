package linearize

import (
	"fmt"
	"runtime"

	"coatcheck/internal/check/verbs"
)

// call is one call of a thread, which records its results.
type call = verbs.Call[Value]

// course is the state of a call.
type course struct {
	begin int64
	call  int64 // when the part of it began that is recorded now
	ret   int64 // 0: it has not returned
	first int   // index of its first record
	last  Handle
}

func courseOf(c *call) *course { return c.State.(*course) }

// kind tells how values are distinguished.
var kind = verbs.Kind[Value]{Make: newValue, Number: (*Value).read}

// say records an effect of the call on a handle: now, or when it returned.
func (t *thread) say(c *call, e Effect, h Handle, v uint64, ok bool) {
	s := courseOf(c)
	s.last = h
	ret := s.ret
	if ret == 0 {
		ret = t.clock.read()
	}
	t.put(s.call, ret, c.String(), e, h, v, ok)
}

// NewNumber returns one that no other insertion has.
func (t *thread) NewNumber() uint64 {
	t.values++
	return uint64(t.thread+1)<<32 | t.values
}

// Begin reads the clock.
func (t *thread) Begin(c *call) {
	s := &course{first: len(t.records)}
	c.State = s
	if c.Name == "Commit" || c.Name == "CommitHold" || c.Name == "Cancel" {
		t.meet(c.Open.Handle())
	}
	s.begin = t.clock.read()
	s.call = s.begin
}

// meet waits for another thread at h, at times.
func (t *thread) meet(h Handle) {
	if t.chance(2) {
		t.board.await(h)
	}
}

// Returned reads the clock.
func (t *thread) Returned(c *call) { courseOf(c).ret = t.clock.read() }

// Inside uses the pool in a constructor, or yields.
func (t *thread) Inside(c *call, h Handle) {
	if c.Needs&verbs.Inserts == 0 {
		runtime.Gosched()
	} else {
		if t.chance(3) {
			t.at("Get", t.pick())
			t.at("Remove", t.pick())
		}
		t.meet(h)
	}
	courseOf(c).call = t.clock.read()
}

// Refused counts an insertion that found no slot. At times the thread then removes the first
// value of a loop, as others that found no slot do.
func (t *thread) Refused(*call, error) {
	t.full++
	if t.chance(2) {
		return
	}
	first := t.of("All")
	first.N = 1
	first.Do()
	if h := courseOf(first).last; h != 0 {
		t.at(duels[t.IntN(3)], h)
	}
}

// Shown records a handle that is not live yet.
func (t *thread) Shown(c *call, h Handle, _ *Value) {
	t.say(c, Reserve, h, 0, true)
	t.know(h)
}

// Inserted records that h went live.
func (t *thread) Inserted(c *call, h Handle, v uint64) {
	if c.Known {
		t.say(c, Commit, h, v, true)
		return
	}
	t.say(c, Insert, h, v, true)
	t.know(h)
}

// GivenUp records that h will never go live.
func (t *thread) GivenUp(c *call, h Handle) { t.say(c, Cancel, h, 0, true) }

// Asked records whether h is live.
func (t *thread) Asked(c *call, h Handle, ok bool) { t.say(c, Look, h, 0, ok) }

// Looked records the value of h, or that h is not live.
func (t *thread) Looked(c *call, h Handle, v *Value) {
	if v == nil {
		t.say(c, Read, h, 0, false)
	} else {
		t.say(c, Read, h, v.read(), true)
	}
}

// Removed records a removal.
func (t *thread) Removed(c *call, h Handle, v *Value, ok bool) {
	if v == nil {
		t.say(c, Remove, h, 0, ok)
	} else {
		t.say(c, Take, h, v.read(), ok)
	}
}

// Condemned records a Sweep for every second value of DeleteFunc, since another thread may
// remove it first. Counted sets when it returned.
func (t *thread) Condemned(c *call, h Handle, _ *Value) bool {
	if t.chance(2) {
		return false
	}
	t.put(courseOf(c).call, 0, c.Name, Sweep, h, 0, true)
	t.records[len(t.records)-1].Wide = true
	return true
}

// Counted records the removals of a batch or sweep. If a batch removed all or none of its
// handles, each result is known; otherwise each handle is recorded as a Sweep.
func (t *thread) Counted(c *call, n int) {
	s := courseOf(c)
	switch {
	case c.Name == "Clear":
		t.span(s.begin, c.Name, Sweep, nil)
	case c.Name == "DeleteFunc":
		for i := range t.records[s.first:] {
			if r := &t.records[s.first+i]; r.Return == 0 {
				r.Return = s.ret
			}
		}
	case n == 0 || n == len(c.Handles):
		for _, h := range c.Handles {
			t.say(c, Remove, h, 0, n > 0)
		}
		return
	default:
		for _, h := range c.Handles {
			t.say(c, Sweep, h, 0, true)
		}
	}
	t.removed += n
}

// Ranged records that the handles that a loop did not yield were not live at some moment.
func (t *thread) Ranged(c *call, met map[Handle]bool) {
	t.span(courseOf(c).begin, c.Name, Look, met)
}

// Failf records an error that no order of operations explains.
func (t *thread) Failf(format string, args ...any) {
	t.problems = append(t.problems, fmt.Sprintf(format, args...))
}
