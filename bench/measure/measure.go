// Package measure runs the cases of questions and writes their figures in Go's
// benchmark format.
//
// A shared machine slows down and recovers within seconds, so figures taken one after the
// other cannot be compared. The cases of a group are therefore open together and take
// turns: in each round every case has one turn of some milliseconds, and each round begins
// with another case. So the figures of one round were taken side by side.
//
// The clock and the heap's counters are read before and after a turn of some hundred
// thousand operations. Opening a case finds the number of operations of a turn, which
// also warms it up.
//
// GOGC is the default. The garbage of a turn is collected after it, outside the timed
// part, or the next case would pay for it. So a case pays for the collections that begin in its
// turns. Big stores are not open together (suite.Group's Apart): beside the others' memory
// their garbage would hardly ever be collected. They are opened in turns instead.
package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/perf/benchfmt"

	"coatcheck/bench/suite"
)

// Options say how much is measured, and how long.
type Options struct {
	Quick  bool           // every case once, with a few hundred operations
	Rounds int            // turns of each case; 0 is the default
	Turn   time.Duration  // the length of a turn; 0 is the default
	Only   *regexp.Regexp // matches IDs of questions and names of cases; nil is all

	Config []benchfmt.Config                // lines at the beginning of the file
	Begin  func(question string)            // if not nil, is called when a question begins
	Done   func(question string, cases int) // if not nil, is called when all cases of one have worked
}

const (
	defaultRounds = 7
	defaultTurn   = 10 * time.Millisecond
	// tiny is the number of operations of a turn of a quick run.
	tiny = 256
)

// ErrNothing says that no case matches Options.Only.
var ErrNothing = errors.New("measure: no question and no case matches")

// Questions measures the cases of the questions and writes the figures of each group to w,
// in Go's benchmark format, when it is done.
//
// A case that fails, or whose values or counts are wrong, has no figures; the others are
// measured. The error joins those of all cases. If ctx is done, the figures until then have
// been written.
func Questions(ctx context.Context, w io.Writer, qs []suite.Question, o Options) error {
	procs := runtime.GOMAXPROCS(0)
	out := benchfmt.NewWriter(w)
	more := benchfmt.UnitMetadataKey{Unit: "ops/s", Key: "better"}
	errs := []error{out.Write(&benchfmt.UnitMetadata{UnitMetadataKey: more, OrigUnit: more.Unit, Value: "higher"})}
	for i := range qs {
		first := len(errs)
		for _, group := range qs[i].Groups(suite.Env{Quick: o.Quick, Procs: procs}) {
			g := o.group(&qs[i], &group, procs)
			if len(g.cases) == 0 {
				continue
			}
			if o.Begin != nil && len(errs) == first {
				o.Begin(qs[i].ID)
			}
			g.measure(ctx)
			for _, c := range g.cases {
				if c.err == nil && len(c.rounds) > 0 {
					c.err = c.write(out, o.Config)
				}
				errs = append(errs, c.err)
			}
			if ctx.Err() != nil {
				return errors.Join(append(errs, errStopped)...)
			}
		}
		if of := errs[first:]; o.Done != nil && len(of) > 0 && errors.Join(of...) == nil {
			o.Done(qs[i].ID, len(of))
		}
	}
	if len(errs) == 1 {
		return ErrNothing
	}
	return errors.Join(errs...)
}

// errStopped says that the context is done.
var errStopped = errors.New("measure: stopped")

// group returns the cases of sg that are to be measured.
func (o *Options) group(q *suite.Question, sg *suite.Group, procs int) *group {
	g := &group{apart: sg.Apart || sg.Once, turn: cmp.Or(o.Turn, defaultTurn), rounds: cmp.Or(o.Rounds, defaultRounds)}
	ops := 0
	switch {
	case sg.Once:
		g.rounds, ops = 1, 1
	case o.Quick:
		g.rounds, ops = 1, tiny
	}
	if sg.Whole {
		ops = 1
	}
	for i := range sg.Cases {
		c := &sg.Cases[i]
		name := q.Name(c)
		if o.Only != nil && !o.Only.MatchString(q.ID) && !o.Only.MatchString(name) {
			continue
		}
		if procs > 1 {
			name = fmt.Sprintf("%s-%d", name, procs)
		}
		g.cases = append(g.cases, &contestant{name: name, open: c.Open, ops: ops})
	}
	return g
}

// write writes a line for each round.
func (c *contestant) write(out *benchfmt.Writer, config []benchfmt.Config) error {
	for _, f := range c.rounds {
		ops, perOp := float64(f.ops), float64(f.took)/float64(f.ops)
		r := &benchfmt.Result{Config: config, Name: benchfmt.Name(c.name), Iters: f.ops, Values: []benchfmt.Value{
			{Value: perOp, Unit: "ns/op"},
			{Value: 1e9 / perOp, Unit: "ops/s"},
			{Value: float64(f.bytes) / ops, Unit: "B/op"},
			{Value: float64(f.objects) / ops, Unit: "allocs/op"},
		}}
		if f.metrics != nil {
			r.Values = nil
		}
		for _, unit := range slices.Sorted(maps.Keys(f.metrics)) {
			r.Values = append(r.Values, benchfmt.Value{Value: f.metrics[unit], Unit: unit})
		}
		for i := range r.Values {
			v := &r.Values[i]
			v.Value, _ = strconv.ParseFloat(strconv.FormatFloat(v.Value, 'g', 5, 64), 64)
		}
		if err := out.Write(r); err != nil {
			return err
		}
	}
	return nil
}
