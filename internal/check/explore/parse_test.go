//go:build interleave

package explore_test

import (
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	. "coatcheck/pool"
	"coatcheck/shard/slots"
)

//go:embed scenarios
var scenarioFiles embed.FS

// scenarios are the programs in the folder scenarios.
var scenarios = func() (all []*program) {
	names, _ := fs.Glob(scenarioFiles, "scenarios/*.txt") // cannot fail
	for _, name := range names {
		text, err := scenarioFiles.ReadFile(name)
		if err != nil {
			panic(err)
		}
		programs, err := parse(string(text))
		if err != nil {
			panic(fmt.Sprintf("%s: %v", name, err))
		}
		all = append(all, programs...)
	}
	return all
}()

// parse parses programs, as README.md in the folder scenarios describes them.
func parse(text string) (all []*program, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("%v", x)
		}
	}()
	var lines []string // of the last program
	end := func() {
		for _, line := range lines {
			all[len(all)-1].parseLine(line)
		}
		lines = nil
	}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimRight(line, " \n")
		switch {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "\t\t"):
			lines[len(lines)-1] += "; " + strings.TrimSpace(line)
		case strings.HasPrefix(line, "\t"):
			lines = append(lines, strings.TrimSpace(line))
		default:
			end()
			all = append(all, &program{name: line})
		}
	}
	end()
	return all, nil
}

func (p *program) parseLine(line string) {
	defer func() {
		if x := recover(); x != nil {
			panic(fmt.Sprintf("%s: %q: %v", p.name, line, x))
		}
	}()
	head, rest, _ := strings.Cut(line, ":")
	switch {
	case head == "pool":
		p.settings.parse(rest)
	case head == "reset":
		p.Reset, p.resets = true, parseOps(rest)
	case head == "events":
		p.Events, p.events = true, parseOps(rest)
	case strings.HasPrefix(head, "thread "):
		p.threads = append(p.threads, script{number(head[len("thread "):]), parseOps(rest)})
	default:
		p.prepare = append(p.prepare, parseOps(line)...)
	}
}

// parser has the tokens that are left.
type parser struct{ tokens []string }

func parseOps(text string) []op {
	p := parser{strings.Fields(strings.ReplaceAll(text, ";", " ; "))}
	ops := p.ops()
	if len(p.tokens) > 0 {
		panic("a brace too many")
	}
	return ops
}

// ops parses operations up to a brace or the end.
func (p *parser) ops() (ops []op) {
	for len(p.tokens) > 0 && p.tokens[0] != "}" {
		if p.tokens[0] == ";" {
			p.tokens = p.tokens[1:]
			continue
		}
		ops = append(ops, p.op())
	}
	return ops
}

var throughWorker = regexp.MustCompile(`^w(\d+)\.(.+)$`)

func (p *parser) op() op {
	n := 0
	for n < len(p.tokens) && !strings.Contains(";{}", p.tokens[n]) {
		n++
	}
	words := p.tokens[:n]
	p.tokens = p.tokens[n:]
	made := ""
	if len(words) > 2 && words[1] == "=" {
		made, words = words[0], words[2:]
	}
	by := none
	if m := throughWorker.FindStringSubmatch(words[0]); m != nil {
		by, words[0] = number(m[1]), m[2]
	}
	o := newOp(verbOf(words[0]))
	o.by = by
	switch first, last := span(made); {
	case made == "":
	case made[0] == 'h' && o.has(">"):
		o.to, o.n = first, last-first+1
	case o.has(map[byte]string{'g': "G", 'r': "R", 'w': "W"}[made[0]]):
		o.into = first
	default:
		panic(o.name + " makes no " + made)
	}
	for _, word := range words[1:] {
		o.take(word)
	}
	if o.g == none && o.has("g") || o.r == none && o.has("r") {
		panic(o.name + " lacks a variable")
	}
	if len(p.tokens) > 0 && p.tokens[0] == "{" {
		p.tokens = p.tokens[1:]
		o.calls, o.inner = true, p.ops()
		p.tokens = p.tokens[1:] // the closing brace
	}
	return o
}

// take parses an argument.
func (o *op) take(word string) {
	index, generation, madeUp := strings.Cut(word, "@")
	switch {
	case madeUp:
		made := Handle[val](slots.Pack(uint32(number(generation)), uint32(number(index))))
		o.h = append(o.h, named{madeUp: true, made: made})
	case word[0] == 'h':
		word, lives, _ := strings.Cut(word, "+")
		for first, last := span(word); first <= last; first++ {
			n := named{at: first}
			if lives != "" {
				n.ahead = number(lives)
			}
			o.h = append(o.h, n)
		}
	case word[0] == 'g':
		o.g = number(word[1:])
	case word[0] == 'r' && o.has("r"):
		o.r = number(word[1:])
	case word[0] == 'r':
		o.h = append(o.h, named{reserved: true, at: number(word[1:])})
	default:
		o.n = number(word)
	}
	if (len(o.h) > 0) != o.has("hH") && len(o.h) > 0 || o.g != none && !o.has("g") {
		panic(o.name + " takes no " + word)
	}
}

// span parses variables such as h3..5.
func span(word string) (first, last int) {
	if word == "" {
		return 0, 0
	}
	from, to, more := strings.Cut(word[1:], "..")
	first = number(from)
	if last = first; more {
		last = number(to)
	}
	return first, last
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}
