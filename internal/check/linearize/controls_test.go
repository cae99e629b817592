package linearize

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// controlOrigin is the first generation of the controls' slots.
const controlOrigin = 1001

var (
	controlLayout = Layout{Name: "control", Options: options{Capacity: 16, Shards: 2, Origin: controlOrigin}}
)

const noExplanation = "has no explanation"

// controls are wrong pools, which must be refuted.
var controls = []struct {
	name   string
	maker  Maker
	layout Layout
	reason string // in the refutation
	// blamed is the prefix of the wrong verb's operations. Without their results the
	// refuted life must have an explanation. It is empty if other verbs show the fault.
	blamed string
	shows  func(*part) bool // whether the part shows the fault; nil: not asked
}{
	{"two removers succeed", wrongly(func(s Subject) Subject { return loadAndStore{s} }), controlLayout, noExplanation, "Remove:", nil},
	{"Get returns the next incarnation's value", wrongly(func(s Subject) Subject { return nextLife{s} }), controlLayout, noExplanation, "Get:", nil},
	{"a handle is issued twice", wrongly(func(s Subject) Subject { return reissues{s} }), controlLayout, noExplanation, "", func(p *part) bool { return p.count(Reserve, Insert) > 1 }},
	{"live in its constructor", wrongly(func(s Subject) Subject { return &building{Subject: s} }), controlLayout, noExplanation, "Contains:", nil},
	{"live although its constructor gave up", wrongly(func(s Subject) Subject { return unburnt{s} }), controlLayout, noExplanation, "", func(p *part) bool { return p.count(Cancel) == 1 }},
	{"inserted although full", wrongly(func(s Subject) Subject { return &loses{Subject: s} }), controlLayout, noExplanation, "", func(p *part) bool { return p.count(Reserve, Insert) == 0 }},
	{"All leaves a value out", wrongly(func(s Subject) Subject { return skips{s} }), controlLayout, noExplanation, "All:", nil},
	{"Clear leaves a value live", wrongly(func(s Subject) Subject { return spares{s} }), controlLayout, noExplanation, "Clear:", nil},
	{"RemoveBatch counts wrongly", wrongly(func(s Subject) Subject { return miscounts{s} }), controlLayout, "values went live, and", "", nil},
	{"a verb panics", wrongly(func(s Subject) Subject { return &panics{Subject: s} }), controlLayout, "out of order", "", nil},
	{"more slots than Capacity", large, controlLayout, "there are 16 slots", "", nil},
	{"a generation before the first", old, controlLayout, "no value lives in this generation", "", nil},
}

// controlHistories is the number of histories in which a control must be refuted. Most are
// in the first few.
const controlHistories = 1000

func TestWrongPoolsAreRefuted(t *testing.T) {
	for _, c := range controls {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			var r *Refutation
			n := uint64(0)
			for n < controlHistories && r == nil {
				n++
				_, r = Plan{c.layout, 8, DefaultOps, n}.Run(c.maker).Judge()
			}
			require.NotNil(t, r, "%d histories passed", n)
			require.Contains(t, r.Error(), c.reason)
			if c.blamed != "" {
				requireBlame(t, r.part, c.blamed)
			}
			if c.shows != nil {
				require.True(t, c.shows(r.part), r)
			}
		})
	}
}

// count returns how many of the part's operations had one of the effects.
func (p *part) count(es ...Effect) (n int) {
	for _, r := range p.records {
		if slices.Contains(es, r.Effect) {
			n++
		}
	}
	return n
}

// requireBlame requires that the part has an explanation without the results of operations
// that begin with blamed: removals may have succeeded or not, and others are left out.
func requireBlame(t *testing.T, p *part, blamed string) {
	t.Helper()
	rest := part{handle: p.handle}
	for _, r := range p.records {
		if strings.HasPrefix(r.String(), blamed) {
			if r.Effect != Remove && r.Effect != Take {
				continue
			}
			mayHave := *r
			mayHave.Effect = Sweep
			r = &mayHave
		}
		rest.records = append(rest.records, r)
	}
	require.NoError(t, rest.explain(), "without %q", blamed)
}

// TestGuardsAreWatched requires that a changed value under a guard is refuted.
func TestGuardsAreWatched(t *testing.T) {
	threads, end := Plan{controlLayout, 1, DefaultOps, 1}.begin(Pool)
	th := threads[0]
	insert := th.of("Insert")
	insert.Do()
	h := courseOf(insert).last
	require.NotZero(t, h)
	for th.hold == nil || len(th.hold.Seen) == 0 {
		th.do(table.Named("Guard.Get"))
	}
	th.hold.Seen[0].V.id++
	th.letGo()
	_, r := end().Judge()
	require.NotNil(t, r)
	require.Contains(t, r.Reason, "under one guard or Ref, the value of "+h.String())
}
