package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// equivalents lists slips that change nothing which anybody can tell, each with the reason.
//
//go:embed equivalents.txt
var equivalents string

// layer is the tests of one package that may find a slip, and those of them that run.
type layer struct {
	suite
	run string
}

const everything = "." // the pattern of all tests

// layersOf returns what is run for a slip, the cheapest first. What a layer finds, the later ones need not.
func layersOf(s *slip) []layer {
	folder := path.Dir(s.file)
	all := ordinaryLayers(folder)
	if folder == "pool" || folder == "pool/pooltest" {
		all = append(all, layer{suite{folder, recording}, everything})
	}
	// Plain stores in another order, or without their lock, are races before they are anything else.
	if s.kind == "missing lock" || s.kind == "swapped stores" {
		if groupOf(folder) != protocol { // whose tests take minutes under the race detector
			all = append(all, layer{suite{folder, racing}, everything})
		}
		all = append(all, layer{suite{".", racing}, "Storm|Torture"})
	}
	return all
}

// ordinaryLayers returns those that are run for any slip.
func ordinaryLayers(folder string) (all []layer) {
	ordinary := func(pkg string) layer { return layer{suite{pkg, ""}, everything} }
	costs := layer{suite{"internal/check/costs", counting}, everything}
	explored := func(pkg string) layer { return layer{suite{pkg, exploring}, "Interleave"} }
	switch folder {
	case "epoch":
		all = append(all, ordinary("epoch"), ordinary("shard"), costs)
	case "shard":
		all = append(all, ordinary("shard"), costs)
	case "shard/slots":
		all = append(all, ordinary("shard/slots"), ordinary("shard"), costs)
	case "internal/cause":
		return append(all, ordinary(folder), ordinary("epoch"), ordinary("pool"), ordinary("pool/pending"))
	case "pool/internal/codec":
		return append(all, ordinary(folder), ordinary("pool"), ordinary("pool/table"))
	case "pool/internal/snapshot":
		return append(all, ordinary("pool"), ordinary("pool/table"), ordinary("pool/dense"))
	case "pool":
	case "pool/command", "pool/dense", "pool/pending", "pool/tree":
		return append(all, ordinary(folder), explored(folder))
	default:
		return append(all, ordinary(folder))
	}
	return append(all, layer{suite{"pool", ""}, "OperationsMatchModel"}, ordinary("pool"), explored("pool"), layer{suite{".", ""}, "Storm|Torture"})
}

// drawnRun draws slips, or takes all of the lines that -at names, and runs the layers of each until one finds
// it. It returns an error if one survives that is not listed as equivalent.
func drawnRun(c *config, tree string, seed uint64, n int) error {
	all, err := slips(tree)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s slip) bool { return !c.only.MatchString(s.name()) })
	known, err := reasons(equivalents)
	if err != nil {
		return err
	}
	compiler := newCompiler(tree, "")
	compiles := func(s *slip) bool {
		after, err := s.apply(tree)
		return err == nil && compiler.compile(after) == nil
	}
	var drawn []slip
	if c.at != nil {
		drawn = slices.DeleteFunc(all, func(s slip) bool {
			return !slices.ContainsFunc(c.at, func(p region) bool { return p.has(&s) }) || !compiles(&s)
		})
		fmt.Printf("%d slips\n", len(drawn))
	} else {
		drawn = draw(all, seed, n, compiles)
		fmt.Printf("seed %d: %d slips of %d, on %d lines\n", seed, len(drawn), len(all), linesOf(all))
	}
	var passed map[string]bool // by the quick layers, in an earlier run
	if c.again != "" {
		earlier, err := os.ReadFile(c.again)
		if err != nil {
			return err
		}
		killed := rowsOf(killedRow, earlier)
		passed = rowsOf(leftRow, earlier)
		drawn = slices.DeleteFunc(drawn, func(s slip) bool { return killed[s.String()] })
		fmt.Printf("an earlier run has killed all but %d\n", len(drawn))
	}
	places, err := c.places(tree, len(drawn),
		func(i int) string { return groupOf(path.Dir(drawn[i].file)) },
		func(i int) (map[string]string, error) { return drawn[i].apply(tree) })
	if err != nil {
		return err
	}
	begin, killed, equal, survivors, none := time.Now(), 0, 0, 0, 0
	var left []int // which are to be tried, by builds
	for i := range drawn {
		switch s := &drawn[i]; {
		case c.check:
			fmt.Println(s)
		case known[s.name()] != "":
			equal++
			fmt.Printf("EQUIVALENT %v: %s\n", s, known[s.name()])
		default:
			left = append(left, i)
		}
	}
	passes := 2
	if c.short {
		passes = 1
	}
	slices.SortStableFunc(left, func(i, j int) int { return strings.Compare(places[i].dir, places[j].dir) })
	for _, slow := range []bool{false, true}[:passes] {
		var later []int
		c.each(left, func(i int) func() {
			by, how := "", ""
			if slow || !passed[drawn[i].String()] {
				by, how = places[i].find(&drawn[i], slow)
			}
			return func() {
				switch s := &drawn[i]; {
				case how == unbuilt:
					none++
					fmt.Printf("%s: %v\n", how, s)
				case by != "":
					killed++
					fmt.Printf("killed by %s (%s): %v\n", by, how, s)
				case slow:
					survivors++
					fmt.Printf("SURVIVES %v\n\tto list it as equivalent: %s = the reason\n", s, s.name())
				default:
					later = append(later, i)
					fmt.Printf("left to the slow layers: %v\n", s)
				}
			}
		})
		left = later
	}
	survivors += len(left)
	if c.check {
		return nil
	}
	fmt.Printf("\n%d of %d killed (%.1f %%), %d equivalent, %d that do not build; %v; %s\n", killed, killed+survivors, 100*float64(killed)/float64(max(1, killed+survivors)), equal, none, time.Since(begin).Round(time.Second), c.cost(len(drawn)))
	if survivors > 0 {
		return fmt.Errorf("%d survive", survivors)
	}
	return nil
}

// The rows of a slip that a run of drawn slips has killed, and of one that its quick layers have not.
var (
	killedRow = regexp.MustCompile(`(?m)^killed by .+\): (\S+\.go:\d+: .+)$`)
	leftRow   = regexp.MustCompile(`(?m)^left to the slow layers: (.+)$`)
)

// rowsOf returns the slips of the rows of one kind in what a run has printed.
func rowsOf(kind *regexp.Regexp, text []byte) map[string]bool {
	all := map[string]bool{}
	for _, m := range kind.FindAllSubmatch(text, -1) {
		all[string(m[1])] = true
	}
	return all
}

// each calls try with each of the numbers, some at once, and then what it returns, one after the other.
func (c *config) each(numbers []int, try func(i int) (tell func())) {
	next, told := make(chan int), make(chan func())
	for range c.jobs {
		go func() {
			for i := range next {
				told <- try(i)
			}
		}()
	}
	go func() {
		for _, i := range numbers {
			next <- i
		}
		close(next)
	}()
	for range numbers {
		(<-told)()
	}
}

// linesOf returns on how many lines slips are.
func linesOf(all []slip) int {
	lines := map[string]bool{}
	for _, s := range all {
		lines[fmt.Sprint(s.file, s.line)] = true
	}
	return len(lines)
}

// reasons returns the reasons of listed slips, by their names.
func reasons(text string) (map[string]string, error) {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		i := strings.LastIndex(line, " = ")
		if i < 0 {
			return nil, fmt.Errorf("equivalents.txt: no reason in %q", line)
		}
		all[line[:i]] = line[i+len(" = "):]
	}
	return all, nil
}

// slow reports whether a layer takes minutes. Those layers run last, when the others have found most
// slips of all folders.
func (l layer) slow() bool {
	return l.explores() || l.pkg == "." || l.how == recording || l.how == racing
}

// unbuilt is how a slip ends that does not build, although its package does. It is no bug that anybody
// could have.
const unbuilt = string(noBuild)

// find runs the quick layers of a slip or the slow ones, and returns which found it, and how; or "" if
// none did. A test that hangs, or a process that crashes, has found it too. The tests that fail in a
// build of many slips come with the slow layers, since each slip is built alone for them.
func (p place) find(s *slip, slow bool) (by, how string) {
	b := <-p.alone
	defer func() { p.alone <- b }()
	for _, l := range layersOf(s) {
		switch {
		case l.how == racing:
			if slow {
				how = b.runRacing(s, l)
			}
		case slow && !l.slow():
			how = p.runAlone(b, s, l)
		case l.slow() == slow:
			how = p.runTogether(b, s, l)
		}
		if by = l.pkg; l.how != "" {
			by += ", " + l.how
		}
		if how != "" {
			return by, how
		}
	}
	return "", ""
}

// runTogether runs the tests of a layer that reach s. A slip without a number is built by b. A test that
// fails without the slip too is left out, and the others run again.
func (p place) runTogether(b *bench, s *slip, l layer) (how string) {
	in, functions := p.bench, p.functions(l)
	if functions == nil {
		if !s.build(b, l) {
			return unbuilt
		}
		in = b
	}
	for _, part := range p.measure(l).parts(l, functions) {
		for {
			how, again := in.suite(l, p.number, part)
			if how == "" {
				break
			}
			if p.bench.passes(l, again) {
				return how
			}
			if again.pattern == part.pattern {
				break // it is not known which test to leave out
			}
			part.skip = strings.TrimPrefix(part.skip+"|"+again.pattern, "|")
		}
	}
	return ""
}

// functions returns which functions the slip changes, or nil if it is not part of a build of many.
func (p place) functions(l layer) []int {
	if p.number == 0 || p.buildOnce(l.suite) != nil {
		return nil
	}
	return p.reach[p.number]
}

// runAlone runs the tests of a layer that reach s and fail in a build of many.
func (p place) runAlone(b *bench, s *slip, l layer) (how string) {
	failing, some := p.measure(l).failing(l, p.functions(l))
	if !some {
		return ""
	}
	return b.tryAlone(s, l, failing)
}

// runRacing runs all tests of a layer under the race detector. A build of many slips would have races of its own,
// since it notes which functions were called.
func (b *bench) runRacing(s *slip, l layer) (how string) {
	return b.tryAlone(s, l, part{pattern: l.run, limit: 20 * time.Minute})
}

// tryAlone builds s alone, and runs tests of a layer.
func (b *bench) tryAlone(s *slip, l layer, tests part) (how string) {
	if !s.build(b, l) {
		return unbuilt
	}
	how, again := b.suite(l, 0, tests)
	if how != "" && (b.build(l.suite, nil) != nil || !b.passes(l, again)) {
		return ""
	}
	return how
}

// build builds s alone for a layer, and reports whether it could.
func (s *slip) build(b *bench, l layer) bool {
	after, err := s.apply(b.tree)
	return err == nil && b.build(l.suite, after) == nil
}

// passes reports whether tests that have failed with a mutant pass without one. If not, as where the
// machine is too busy, they have found nothing.
func (b *bench) passes(l layer, again part) bool {
	how, _ := b.suite(l, 0, again)
	if how != "" {
		fmt.Printf("no kill, since the unmutated tree fails too: %s (%s)\n", l.pkg, how)
	}
	return how == ""
}

// suite runs tests of a layer, with the mutant of a number, up to the first that fails. It returns how they
// failed, or "", and which tests show it.
func (b *bench) suite(l layer, number int, p part) (how string, again part) {
	ctx, cancel := context.WithTimeout(context.Background(), p.limit)
	defer cancel()
	args := append([]string{"-test.short", "-test.failfast", "-test.run", p.pattern, "-test.skip", p.skip, "-test.timeout=0"}, b.patience(l.suite)...)
	cmd := b.command(ctx, l.suite, number, args)
	out, err := cmd.CombinedOutput()
	spent(&b.running, cmd)
	switch {
	case err == nil:
		return "", p
	case ctx.Err() != nil:
		return "hangs", p
	}
	test, how := failure(string(out))
	if !l.explores() {
		test, _, _ = strings.Cut(test, "/")
	}
	if test != "" {
		p.pattern = wholly(test)
	}
	return how, p
}

// failure returns which test or part of one failed, in what a process printed, and how: its name, and the
// panic or the fatal error.
func failure(out string) (test, how string) {
	ended := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			if name, _, _ = strings.Cut(name, " "); strings.HasPrefix(name, test) {
				test = name
			}
		} else if ended == "" && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")) {
			ended, _, _ = strings.Cut(line, " [recovered")
		}
	}
	switch {
	case test == "" && ended == "":
		return "", "crash"
	case test == "" || ended == "":
		return test, test + ended
	}
	return test, test + ": " + ended
}
