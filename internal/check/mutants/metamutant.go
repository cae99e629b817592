package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Most mutants change bodies of functions alone. Those are put into one copy of the product, a
// metamutant, which is built once for all: each function asks first which mutant was chosen, and has
// the body of each that changes it. Building takes most of the time that a mutant costs, and running
// it little. A mutant that changes something else, such as a type, is built alone. After Untch's
// mutant schemata.

// choice is the variable that tells which mutant a process runs: 0 is none. It is set before any
// function of the product runs.
const choice = `package mutant

import (
	"os"
	"strconv"
	"syscall"
)

var Chosen, _ = strconv.Atoi(os.Getenv("` + chosenBy + `"))

// Reached has a byte for each function that has several bodies, which is 1 once it was called.
var Reached = reached()

func reached() []byte {
	name := os.Getenv("` + reachedIn + `")
	if name == "" {
		return make([]byte, ` + reachedBytes + `)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, ` + reachedBytes + `, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return b
}
`

const (
	chosenBy   = "COATCHECK_MUTANT"  // an environment variable with the number of the mutant
	reachedIn  = "COATCHECK_REACHED" // another with the file that gets Reached
	choiceFile = "internal/mutant/mutant.go"
	choicePath = "coatcheck/internal/mutant" // of its package
	choiceName = "mutantChosen"              // of the package, in files of the product

	reachedBytes = "4096" // of Reached: a page
)

// metamutant puts mutants into the files of the tree at root. A mutant's number is its place in the
// order of the calls of add, from 1 on.
type metamutant struct {
	root      string
	files     map[string]*metaFile
	number    int
	functions int           // how many have several bodies
	reach     map[int][]int // which of them a mutant changes
}

// metaFile is a file of the product, and the bodies that mutants give to its functions.
type metaFile struct {
	text   string
	bodies []body
	added  []string // what stands at the head of each body
	number []int    // of each function that has several, from 1 on
}

// body is where the body of a function is, without its braces.
type body struct {
	from, to int
	results  bool
	labels   []span // where the names of its labels stand
}

type span struct{ from, to int }

func newMetamutant(root string) *metamutant {
	return &metamutant{root: root, files: map[string]*metaFile{}, reach: map[int][]int{}}
}

// add adds a mutant, which makes these texts of files. It returns the mutant's number, or 0 if it
// changes more than bodies of functions.
func (m *metamutant) add(after map[string]string) (number int, err error) {
	type change struct {
		of   *metaFile
		i    int // the body
		text string
	}
	var changes []change
	for name, text := range after {
		f, err := m.file(name)
		if err != nil {
			return 0, err
		}
		bodies, err := bodiesOf(text)
		if err != nil {
			return 0, err
		}
		if !slices.Equal(between(f.text, f.bodies), between(text, bodies)) {
			return 0, nil
		}
		for i, b := range bodies {
			if before := f.bodies[i]; text[b.from:b.to] != f.text[before.from:before.to] {
				changes = append(changes, change{f, i, b.renamed(text, m.number+1)})
			}
		}
	}
	m.number++
	for _, c := range changes {
		if c.of.number[c.i] == 0 {
			m.functions++
			c.of.number[c.i] = m.functions
		}
		m.reach[m.number] = append(m.reach[m.number], c.of.number[c.i])
		end := ""
		if !c.of.bodies[c.i].results {
			end = "return\n"
		}
		c.of.added[c.i] += fmt.Sprintf(" if %s.Chosen == %d {%s\n%s};", choiceName, m.number, c.text, end)
	}
	return m.number, nil
}

// file returns a file of the tree.
func (m *metamutant) file(name string) (*metaFile, error) {
	if f := m.files[name]; f != nil {
		return f, nil
	}
	text, err := os.ReadFile(filepath.Join(m.root, name))
	if err != nil {
		return nil, err
	}
	bodies, err := bodiesOf(string(text))
	if err != nil {
		return nil, err
	}
	f := &metaFile{string(text), bodies, make([]string, len(bodies)), make([]int, len(bodies))}
	m.files[name] = f
	return f, nil
}

// after returns the files with all mutants.
func (m *metamutant) after() map[string]string {
	all := map[string]string{choiceFile: choice}
	for name, f := range m.files {
		if f.changed() {
			all[name] = f.whole()
		}
	}
	return all
}

// changed reports whether a mutant gives a body to a function of the file.
func (f *metaFile) changed() bool {
	return slices.ContainsFunc(f.added, func(b string) bool { return b != "" })
}

// whole returns the file with all bodies. Functions that have several need a larger stack than those
// without a check of it may have.
func (f *metaFile) whole() string {
	var b bytes.Buffer
	last := 0
	for i := range f.bodies {
		b.WriteString(f.text[last:f.bodies[i].from])
		if n := f.number[i]; n > 0 {
			fmt.Fprintf(&b, " if %s.Reached[%d] == 0 {%[1]s.Reached[%[2]d] = 1};%s", choiceName, n, f.added[i])
		}
		last = f.bodies[i].from
	}
	b.WriteString(f.text[last:])
	text := strings.ReplaceAll(b.String(), "\n//go:nosplit\n", "\n//\n")
	at := strings.Index("\n"+text, "\npackage ")
	end := at + strings.Index(text[at:], "\n")
	clause, comment, _ := strings.Cut(text[at:end], "//")
	return text[:at] + clause + "; import " + choiceName + " " + strconv.Quote(choicePath) + " //" + comment + text[end:]
}

// bodiesOf returns the bodies of the functions that a file declares.
func bodiesOf(text string) (all []body, err error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	offset := func(p token.Pos) int { return fset.Position(p).Offset }
	for _, d := range tree.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		b := body{from: offset(fn.Body.Lbrace) + 1, to: offset(fn.Body.Rbrace), results: fn.Type.Results != nil}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			var label *ast.Ident
			switch n := n.(type) {
			case *ast.LabeledStmt:
				label = n.Label
			case *ast.BranchStmt:
				label = n.Label
			}
			if label != nil {
				b.labels = append(b.labels, span{offset(label.Pos()), offset(label.End())})
			}
			return true
		})
		slices.SortFunc(b.labels, func(a, b span) int { return a.from - b.from })
		all = append(all, b)
	}
	return all, nil
}

// between returns what a file has before, between and after its bodies.
func between(text string, bodies []body) (all []string) {
	last := 0
	for _, b := range bodies {
		all = append(all, text[last:b.from])
		last = b.to
	}
	return append(all, text[last:])
}

// renamed returns a body with labels of its own, as a function has each only once.
func (b *body) renamed(text string, number int) string {
	var s strings.Builder
	last := b.from
	for _, l := range b.labels {
		fmt.Fprintf(&s, "%s%s%d", text[last:l.from], text[l.from:l.to], number)
		last = l.to
	}
	s.WriteString(text[last:b.to])
	return s.String()
}
