package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"time"

	"golang.org/x/perf/benchfmt"

	"coatcheck/bench/suite"
)

// Options say how much is measured, and how long.
type Options struct {
	Quick  bool           // every case once, with a few hundred operations
	Full   bool           // everything that workloads have, and no budget
	Seed   uint64         // of all that is drawn
	Procs  []int          // GOMAXPROCS of each pass; none is the present one
	Rounds int            // turns of each case; 0 is the default
	Turn   time.Duration  // how long a turn is; 0 is the default
	Budget time.Duration  // of a pass: when it runs short there are fewer rounds; 0 is none
	Only   *regexp.Regexp // questions' IDs and cases' names; nil is all

	Config []benchfmt.Config // lines at the beginning of the file
	// Begin is called when a question begins. part of the run, of 1, is done, by
	// estimate. It may be nil.
	Begin func(question string, part float64)
}

// The default lengths.
const (
	defaultRounds = 7
	defaultTurn   = 10 * time.Millisecond
	fullRounds    = 15
	fullTurn      = 20 * time.Millisecond
)

func (o *Options) rounds() int {
	switch {
	case o.Quick:
		return 1
	case o.Rounds > 0:
		return o.Rounds
	case o.Full:
		return fullRounds
	}
	return defaultRounds
}

func (o *Options) turn() time.Duration {
	switch {
	case o.Quick:
		return 0
	case o.Turn > 0:
		return o.Turn
	case o.Full:
		return fullTurn
	}
	return defaultTurn
}

// ErrNothing says that no case has a name that Options.Only asks for.
var ErrNothing = errors.New("measure: there is nothing of that name")

// Questions measures the cases of the questions and writes their figures to w, in
// Go's benchmark format, each group's when it is done.
//
// A case that fails, or that did not do what it should have, has no figures; it
// does not keep the others from being measured. The error joins theirs. When ctx
// is done, what was measured so far has been written.
func Questions(ctx context.Context, w io.Writer, qs []suite.Question, o Options) error {
	procs := o.Procs
	if len(procs) == 0 {
		procs = []int{runtime.GOMAXPROCS(0)}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))

	out := newWriter(w, o.Config)
	var errs []error
	measured := 0
	for i, p := range procs {
		runtime.GOMAXPROCS(p)
		plan, err := newPlan(qs, &o, p)
		if err != nil {
			return err
		}
		plan.before, plan.passes = i, len(procs)
		n, err := plan.run(ctx, out)
		measured += n
		if err != nil {
			errs = append(errs, err)
		}
		if errors.Is(err, errStopped) {
			break
		}
	}
	if measured == 0 && len(errs) == 0 {
		return ErrNothing
	}
	return errors.Join(errs...)
}

// Stopped answers whether an error of Questions says that it was stopped.
func Stopped(err error) bool { return errors.Is(err, errStopped) }

// plan is what will be measured in a pass.
type plan struct {
	o              *Options
	before, passes int // this pass is number before of so many
	groups         []*group
	costs          []time.Duration // of each group, by estimate
	total          time.Duration
}

// newPlan lists the groups of the questions.
func newPlan(qs []suite.Question, o *Options, procs int) (*plan, error) {
	env := suite.Env{Quick: o.Quick, Full: o.Full, Procs: procs, Seed: o.Seed}
	p := &plan{o: o}
	names := make(map[string]bool)
	for i := range qs {
		q := &qs[i]
		for _, sg := range q.Groups(env) {
			g := &group{
				question: q.ID, once: sg.Once, apart: sg.Apart,
				rounds: o.rounds(), turn: o.turn() * time.Duration(max(1, sg.Turn)),
			}
			if g.once {
				g.rounds = 1
			}
			for j := range sg.Cases {
				c := &sg.Cases[j]
				name := q.Name(c)
				if o.Only != nil && !o.Only.MatchString(q.ID) && !o.Only.MatchString(name) {
					continue
				}
				if procs > 1 {
					name = fmt.Sprintf("%s-%d", name, procs)
				}
				if names[name] {
					return nil, fmt.Errorf("measure: there are two cases with the name %s", name)
				}
				names[name] = true
				g.cases = append(g.cases, &contestant{name: name, open: c.Open})
			}
			if len(g.cases) > 0 {
				p.add(g)
			}
		}
	}
	return p, nil
}

// add adds a group, with a guess at what it will take.
func (p *plan) add(g *group) {
	const (
		opening = 5 * time.Millisecond   // of a store that is open together with others
		filling = 150 * time.Millisecond // of a store that is big
		long    = 400 * time.Millisecond // a turn of those that have but one
	)
	each := opening + time.Duration(g.rounds+1)*g.turn
	switch {
	case p.o.Quick:
		each = time.Millisecond
	case g.once:
		each = long
	case g.apart:
		each += openings * filling
	}
	cost := each * time.Duration(len(g.cases))
	p.groups = append(p.groups, g)
	p.costs = append(p.costs, cost)
	p.total += cost
}

// run measures all groups and returns how many cases were measured.
func (p *plan) run(ctx context.Context, out *writer) (measured int, err error) {
	begin := time.Now()
	var errs []error
	var spent time.Duration // by estimate, of the groups that are done
	for i, g := range p.groups {
		cost := p.costs[i]
		if p.o.Begin != nil && (i == 0 || p.groups[i-1].question != g.question) {
			p.o.Begin(g.question, (float64(p.before)+float64(spent)/float64(p.total))/float64(p.passes))
		}
		deadline := begin.Add(time.Duration(float64(p.o.Budget) * float64(spent+cost) / float64(p.total)))
		g.late = func() bool {
			return p.o.Budget > 0 && time.Now().After(deadline)
		}
		stopped := g.measure(ctx)
		for _, c := range g.cases {
			switch {
			case c.err != nil:
				errs = append(errs, c.err)
			case len(c.rounds) > 0:
				measured++
				if err := out.write(c); err != nil {
					return measured, errors.Join(append(errs, err)...)
				}
			}
		}
		g.cases = nil
		spent += cost
		if stopped != nil {
			errs = append(errs, stopped)
			break
		}
	}
	return measured, errors.Join(errs...)
}
