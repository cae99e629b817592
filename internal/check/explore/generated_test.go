//go:build interleave

package explore_test

import (
	"flag"
	"fmt"
	"go/format"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"coatcheck/epoch"
	"coatcheck/internal/atom"
	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
	. "coatcheck/pool"
	"coatcheck/shard"
)

// Scenarios are programs that somebody thought of. These are drawn:
//
//	go test -tags interleave -run Generated ./internal/check/explore -timeout 0 -generate 10m -generate.seed 1 -v
//
// Each runs under some schedules with few preemptions, against the same invariants.
// One that fails is printed as the source of a scenario, which fails under the schedule
// that is printed with it; then it is made as small as it can be. A run ends before
// go test's -timeout, which is ten minutes if nothing else is said.
var shrinkFlag = flag.Duration("generate.shrink", time.Minute, "make a program that fails smaller for so long")

func TestInterleaveGenerated(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	limit, seed := testkit.Generate()
	least := 1
	switch {
	case limit == 0 && testing.Short():
		least = 30
	case limit == 0:
		least = 300
	}
	var sum interleave.Result
	begin := time.Now()
	if end, ok := t.Deadline(); ok { // with time to make the program smaller
		limit = min(limit, time.Until(end)*9/10-*shrinkFlag)
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	var p *program
	n := 0
	for ; sum.Failure == nil && (time.Since(begin) < limit || n < least); n++ {
		p = draw(rnd)
		hangs := time.AfterFunc(hangLimit, func() { panic(fmt.Sprintf("program %d of seed %d hangs:\n%s", n+1, seed, p.String())) })
		sum.Add(interleave.Sample(p.setup, 60, rnd.Uint64()))
		hangs.Stop()
	}
	t.Logf("%d programs of seed %d", n, seed)
	sum.Took = time.Since(begin)
	t.Log(sum)
	if sum.Failure != nil {
		sum.Failure.Runs = sum.AllRuns
		if *shrinkFlag > 0 {
			t.Logf("program %d of seed %d: %v\nschedule: %s\n%s", n, seed, sum.Failure.Err, sum.Failure.Schedule, p.String())
			p, sum.Failure = shrink(p, seed, sum.Failure)
		}
		t.Fatalf("program %d of seed %d:\n%v\n%s", n, seed, sum.Failure, p.String())
	}
	if sum.Switches == 0 {
		t.Fatal("no switch fell inside an operation: the programs explore nothing")
	}
}

// hangLimit is how long a program may take. It has a few schedules, each of
// which ends after a number of steps; only a loop without steps does not end.
const hangLimit = 5 * time.Minute

// program is what is drawn.
type program struct {
	shift    uint32
	opts     Options[val]
	resets   []op // what Reset does
	isReset  bool
	plain    bool   // values without pointers
	copying  bool   // Get copies without a pin
	epochs   uint64 // that are left
	cells    int
	reserver bool
	prepare  []op
	threads  []script
}

// script is a thread, and the shard that it uses.
type script struct {
	shard int
	ops   []op
}

// setup builds the state of a run of p.
func (p *program) setup(r *interleave.Run) {
	w := &world{r: r, alone: len(p.threads) == 1}
	v := new(vars)
	o := p.opts
	if p.isReset {
		o.Reset = w.resetting(3, func(a *actor) { run(v, a, p.resets) })
	}
	a := w.paged(p.shift, o)
	w.exhausting = p.wears()
	if p.plain {
		Arena(w.p).Pointers = false
	}
	CopyWithoutPin(p.copying)
	if p.epochs > 0 {
		w.lastEpochs(p.epochs)
	}
	if p.cells > 0 {
		Domain(w.p).Init(p.cells)
		w.names.find()
	}
	if p.reserver {
		v.rv = a.reserver()
	}
	run(v, a, p.prepare)
	for _, s := range p.threads {
		w.thread(s.shard, func(a *actor) { run(v, a, s.ops) })
	}
}

// wears reports whether generations may run out.
func (p *program) wears() bool { return p.opts.Origin > shard.LastGeneration-40 }

// lastEpochs leaves the pool's clock so many epochs.
func (w *world) lastEpochs(n uint64) {
	domain := reflect.ValueOf(Domain(w.p)).Elem()
	for _, name := range [...]string{"epoch", "safe"} {
		(*atom.Uint64)(domain.FieldByName(name).Addr().UnsafePointer()).Store(epoch.Limit + 1 - n)
	}
}

// String returns p as the source of a scenario.
func (p *program) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	body := source(p.prepare) + source(p.resets)
	for _, s := range p.threads {
		body += source(s.ops)
	}
	line("var generated = []scenario{")
	line("{%q, func(w *world) {", "generated")
	for _, v := range [...]struct{ name, of string }{{"h", "Handle[val]"}, {"g", "*reader"}, {"r", "*Reservation[val]"}, {"wk", "*actor"}} {
		for i := variables - 1; i >= 0; i-- {
			if strings.Contains(body, fmt.Sprintf("%s[%d]", v.name, i)) || strings.Contains(body, fmt.Sprintf("%s[%d:", v.name, i)) {
				line("var %s [%d]%s", v.name, min(i+4, variables), v.of)
				break
			}
		}
	}
	reset := ""
	if p.isReset {
		reset = "w.resetting(3, func(a *actor) {\n" + source(p.resets) + "})"
	}
	line("a := w.paged(%d, Options[val]{%s})", p.shift, fields(p.opts, reset))
	if p.wears() {
		line("w.exhausting = true")
	}
	if p.plain {
		line("Arena(w.p).Pointers = false")
	}
	if p.copying {
		line("CopyWithoutPin(true)")
	}
	if p.epochs > 0 {
		line("w.lastEpochs(%d)", p.epochs)
	}
	if p.cells > 0 {
		line("Domain(w.p).Init(%d)\nw.names.find()", p.cells)
	}
	switch {
	case strings.Contains(body, "(rv)"):
		line("rv := a.reserver()")
	case len(p.prepare) == 0:
		line("_ = a")
	}
	b.WriteString(source(p.prepare))
	for _, s := range p.threads {
		line("w.thread(%d, func(a *actor) {\n%s})", s.shard, source(s.ops))
	}
	line("}},\n}")
	text, err := format.Source([]byte(b.String()))
	if err != nil {
		return fmt.Sprintf("%v\n%s", err, b.String())
	}
	return string(text)
}

// fields are the options that are not zero, as source.
func fields(o Options[val], reset string) string {
	var list []string
	v := reflect.ValueOf(o)
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() {
			list = append(list, fmt.Sprintf("%s: %v", v.Type().Field(i).Name, f))
		}
	}
	if reset != "" {
		list = append(list, "Reset: "+reset)
	}
	return strings.Join(list, ", ")
}
