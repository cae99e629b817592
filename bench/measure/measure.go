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
	Seed   uint64         // of all random choices
	Procs  []int          // GOMAXPROCS of each pass; none is the current one
	Rounds int            // turns of each case; 0 is the default
	Turn   time.Duration  // the length of a turn; 0 is the default
	Budget time.Duration  // of a pass, beyond which there are fewer rounds; 0 is none
	Only   *regexp.Regexp // matches IDs of questions and names of cases; nil is all

	Config []benchfmt.Config // lines at the beginning of the file
	// Begin, if not nil, is called when a question begins. part is the estimated part of
	// the run that is done.
	Begin func(question string, part float64)
}

// The default lengths.
const (
	defaultRounds = 7
	defaultTurn   = 10 * time.Millisecond
)

func (o *Options) rounds() int {
	switch {
	case o.Quick:
		return 1
	case o.Rounds > 0:
		return o.Rounds
	}
	return defaultRounds
}

func (o *Options) turn() time.Duration {
	switch {
	case o.Quick:
		return 0
	case o.Turn > 0:
		return o.Turn
	}
	return defaultTurn
}

// ErrNothing says that no case matches Options.Only.
var ErrNothing = errors.New("measure: no question and no case matches")

// Questions measures the cases of the questions and writes the figures of each group to w,
// in Go's benchmark format, when it is done.
//
// A case that fails, or whose values or counts are wrong, has no figures; the others are
// measured. The error joins those of all cases. If ctx is done, the figures of the groups
// before have been written.
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

type plan struct {
	o              *Options
	before, passes int // this pass follows that many, of all passes
	groups         []*group
	costs          []time.Duration // estimates, by group
	total          time.Duration
}

// newPlan lists the groups of the questions.
func newPlan(qs []suite.Question, o *Options, procs int) (*plan, error) {
	env := suite.Env{Quick: o.Quick, Procs: procs, Seed: o.Seed}
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
					return nil, fmt.Errorf("measure: two cases have the name %s", name)
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

// add adds a group, with an estimate of its time.
func (p *plan) add(g *group) {
	const (
		opening = 5 * time.Millisecond   // a store that is open together with others
		filling = 150 * time.Millisecond // a big store
		long    = 400 * time.Millisecond // the turn of a case that has only one
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
	var spent time.Duration // the estimates of the groups that are done
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
