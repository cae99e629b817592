package linearize

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
)

// Plan describes one history.
type Plan struct {
	Layout  Layout
	Threads int
	Ops     int // of each thread
	Seed    uint64
}

func (p Plan) String() string {
	return fmt.Sprintf("layout %s, %d threads × %d operations, seed %d", p.Layout.Name, p.Threads, p.Ops, p.Seed)
}

// origin returns the first generation of the pool's slots.
func (p Plan) origin() uint32 {
	if o := p.Layout.Origin; o != 0 {
		return o
	}
	return 2*uint32(p.Seed%(1<<20)) + 1
}

// begin makes the subject and its threads. The caller calls end after they have ended, or
// with the reasons why they have not.
func (p Plan) begin(subject Maker) (threads []*thread, end func(broken ...string) *History) {
	o := p.Layout.Options
	o.Origin = p.origin()
	s := subject(&o)
	c, b := new(clock), newBoard()
	var logs []*log
	for i := range p.Threads + 1 {
		t := &thread{subject: s, board: b, Rand: rand.New(rand.NewPCG(p.Seed, uint64(i+1)))}
		t.log = log{thread: i, clock: c}
		if p.Layout.Workers && i%2 == 1 && i < p.Threads {
			t.worker = s.Worker()
		}
		threads = append(threads, t)
		logs = append(logs, &t.log)
	}
	last := threads[p.Threads]
	return threads[:p.Threads], func(broken ...string) *History {
		if len(broken) == 0 {
			broken = last.caught(func() { last.finish(logs) })
		}
		return gather(p, logs, broken...)
	}
}

// caught calls f and returns the text of its panic, if any.
func (t *thread) caught(f func()) (broken []string) {
	defer func() {
		if v := recover(); v != nil {
			broken = append(broken, fmt.Sprintf("panic in thread %d: %v\n%s", t.thread, v, debug.Stack()))
		}
	}()
	f()
	return nil
}

// finish looks at every issued handle after all threads have ended, and removes the values
// that are left.
func (t *thread) finish(logs []*log) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	seen := make(map[Handle]bool)
	for _, l := range logs {
		for _, r := range l.records {
			if !seen[r.Handle] {
				seen[r.Handle] = true
				call := t.clock.read()
				ok := t.subject.Contains(r.Handle)
				t.add(call, "Contains at the end", Look, r.Handle, 0, ok)
			}
		}
	}
	met := make(map[Handle]bool)
	call := t.clock.read()
	for h, v := range t.subject.Drain() {
		t.add(call, "Drain at the end", Take, h, v.read(), true)
		met[h] = true
	}
	t.span(call, "Drain at the end", Look, met)
}
