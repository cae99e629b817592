package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Slips are bugs that nobody chose. A line of the product is drawn, and then one of the changes that
// are likely slips there.

// slip is one change of one file.
type slip struct {
	file     string // relative to the root
	line     int
	in       string // the function
	kind     string
	old, new string // what stands in the file from offset at on, and what the slip makes of it
	at       int
}

// name names s, whatever other lines change.
func (s *slip) name() string {
	return fmt.Sprintf("%s: %s: %s: %s", s.file, s.in, s.kind, oneLine(s.old))
}

func (s *slip) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", s.file, s.line, s.kind, oneLine(s.old))
}

// oneLine returns a text with its white space as single blanks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// apply returns the file after s.
func (s *slip) apply(root string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(root, s.file))
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(text[s.at:], []byte(s.old)) {
		return nil, fmt.Errorf("%s has changed", s.file)
	}
	return map[string]string{s.file: string(text[:s.at]) + s.new + string(text[s.at+len(s.old):])}, nil
}

// sources are the folders in which slips are drawn.
var sources = []string{
	"internal/cause", "epoch", "shard", "shard/slots", "pool", "pool/internal/codec", "pool/internal/snapshot",
	"pool/cgohandle", "pool/command", "pool/dense", "pool/pending", "pool/poolhttp", "pool/pooltest", "pool/table", "pool/tree",
}

// slips returns all slips of the files that an ordinary build of the tree at root has.
func slips(root string) (all []slip, err error) {
	for _, folder := range sources {
		pkg, err := build.ImportDir(filepath.Join(root, folder), 0)
		if err != nil {
			return nil, err
		}
		for _, name := range pkg.GoFiles {
			found, err := slipsOf(root, folder+"/"+name)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

// finder collects the slips of a file.
type finder struct {
	fset *token.FileSet
	file string
	text string
	in   string
	all  []slip
}

func slipsOf(root, file string) ([]slip, error) {
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil, err
	}
	f := &finder{fset: token.NewFileSet(), file: file, text: string(text)}
	tree, err := parser.ParseFile(f.fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && fn.Name.Name != "inlined" { // which nothing calls (pool/inline.go)
			f.in = fn.Name.Name
			ast.Inspect(fn.Body, f.visit)
			if fn.Type.Results == nil && len(fn.Body.List) > 1 {
				last := fn.Body.List[len(fn.Body.List)-1]
				f.add("early return", last, "return\n"+f.of(last))
			}
		}
	}
	return f.all, nil
}

func (f *finder) offset(p token.Pos) int { return f.fset.Position(p).Offset }
func (f *finder) of(n ast.Node) string   { return f.text[f.offset(n.Pos()):f.offset(n.End())] }

// add adds a slip that replaces a node.
func (f *finder) add(kind string, n ast.Node, by string) {
	f.all = append(f.all, slip{f.file, f.fset.Position(n.Pos()).Line, f.in, kind, f.of(n), by, f.offset(n.Pos())})
}

// replace adds a slip that replaces the text between two nodes and themselves.
func (f *finder) replace(kind string, from, to ast.Node, by string) {
	s := slip{f.file, f.fset.Position(from.Pos()).Line, f.in, kind, f.text[f.offset(from.Pos()):f.offset(to.End())], by, f.offset(from.Pos())}
	f.all = append(f.all, s)
}

// near has the comparison that one mistakes for another, where the two differ by one.
var near = map[token.Token]token.Token{token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR}

// never returns a statement as one that is not executed. What it alone uses, such as an import, still compiles.
func (f *finder) never(n ast.Node) string { return "if false { " + f.of(n) + " }" }

// unchecked adds the slip that forgets a condition.
func (f *finder) unchecked(cond ast.Expr) { f.add("missing check", cond, "("+f.of(cond)+") && false") }

// cases adds the slips that forget one case of a switch without a tag.
func (f *finder) cases(body *ast.BlockStmt) {
	for _, s := range body.List {
		for _, cond := range s.(*ast.CaseClause).List {
			f.unchecked(cond)
		}
	}
}

// visit adds the slips of a node.
func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if op, ok := near[n.Op]; ok {
			f.add("off by one", n, f.of(n.X)+" "+op.String()+" "+f.of(n.Y))
		}
		if n.Op == token.LAND || n.Op == token.LOR {
			f.add("missing right operand", n, "("+f.of(n.X)+")")
			f.add("missing left operand", n, "("+f.of(n.Y)+")")
		}
		if n.Op == token.EQL && isLook(n.X) != isLook(n.Y) && !isZero(n.Y) {
			f.add("missing look", n, "("+f.of(n)+" || true)")
		}
		switch lit, ok := n.Y.(*ast.BasicLit); {
		case ok && lit.Kind == token.INT && (n.Op == token.ADD || n.Op == token.SUB) && lit.Value == "1":
			f.add("off by one", n, f.of(n.X))
		case ok && lit.Kind == token.INT && n.Op == token.ADD:
			f.add("off by one", n, f.of(n)+" + 1")
		}
	case *ast.CallExpr:
		if of, ok := n.Fun.(*ast.SelectorExpr); ok && of.Sel.Name == "CompareAndSwap" && len(n.Args) == 2 {
			word, before, after := f.of(of.X), f.of(n.Args[0]), f.of(n.Args[1])
			f.add("stored unseen", n, fmt.Sprintf("func() bool { %s.Store(%s); return true }()", word, after))
			f.add("looked, then stored", n, fmt.Sprintf("func() bool { if %s.Load() != %s { return false }; %[1]s.Store(%[3]s); return true }()", word, before, after))
		}
		if name := f.of(n.Fun); name == "min" || name == "max" { // whatever the order
			f.lost(n.Args)
			return true
		}
		for i := range len(n.Args) - 1 {
			if a, b := f.of(n.Args[i]), f.of(n.Args[i+1]); a != b {
				between := f.text[f.offset(n.Args[i].End()):f.offset(n.Args[i+1].Pos())]
				f.replace("swapped arguments", n.Args[i], n.Args[i+1], b+between+a)
			}
		}
	case *ast.IfStmt:
		if strings.Contains(f.of(n.Cond), "debugging") || strings.Contains(f.of(n.Cond), "Poisons") {
			return false // records of another build
		}
		f.add("inverted condition", n.Cond, "!("+f.of(n.Cond)+")")
		if n.Else == nil {
			f.unchecked(n.Cond)
		}
	case *ast.ForStmt:
		f.early(n.Body)
	case *ast.RangeStmt:
		f.early(n.Body)
	case *ast.BranchStmt:
		f.add("missing "+n.Tok.String(), n, "")
	case *ast.ReturnStmt:
		if len(n.Results) == 1 {
			f.add("inverted result", n.Results[0], "!("+f.of(n.Results[0])+")")
		}
	case *ast.ExprStmt:
		if !f.counts(n) {
			f.add("missing call", n, f.never(n))
		}
	case *ast.DeferStmt:
		f.add("missing call", n, f.never(n))
		f.add("not deferred", n, f.of(n.Call))
	case *ast.SwitchStmt:
		if n.Tag == nil {
			f.cases(n.Body)
		}
	case *ast.BlockStmt:
		f.list(n.List)
	case *ast.CaseClause:
		f.list(n.Body)
	}
	return true
}

// list adds the slips of a list of statements.
func (f *finder) list(list []ast.Stmt) {
	f.swaps(list)
	f.locks(list)
	for _, s := range list {
		switch n := s.(type) {
		case *ast.IncDecStmt:
			f.add("missing store", n, "")
		case *ast.AssignStmt:
			switch {
			case n.Tok == token.DEFINE, f.of(n.Lhs[0]) == "_":
			case n.Tok == token.ASSIGN && len(n.Rhs) == 1 && isZero(n.Rhs[0]):
				f.add("missing reset", n, "")
			default:
				f.add("missing store", n, "")
			}
		}
	}
}

// locks adds the slips that forget a lock and its unlocking. One that is tried in a condition is unlocked in the
// body, or after it.
func (f *finder) locks(list []ast.Stmt) {
	for i, s := range list {
		if n, ok := s.(*ast.IfStmt); ok {
			ast.Inspect(n.Cond, func(c ast.Node) bool {
				if c, ok := c.(*ast.CallExpr); ok {
					f.lock(c, "true", slices.Concat(n.Body.List, list[i+1:]))
				}
				return true
			})
		} else if isCall(s) {
			f.lock(s, "", list[i+1:])
		}
	}
}

var locking = regexp.MustCompile(`(?s)^(.+\.)(?:[Tt]ry)?[Ll]ock\(\)$`) // mu.Lock(), s.lock(), mu.TryLock() and s.tryLock()

// lock adds the slip that forgets a call if it locks, and the first of its unlocks that come after.
func (f *finder) lock(call ast.Node, instead string, after []ast.Stmt) {
	of := locking.FindStringSubmatch(f.of(call))
	if of == nil {
		return
	}
	for _, u := range after {
		if strings.EqualFold(strings.TrimPrefix(f.of(u), "defer "), of[1]+"unlock()") {
			f.replace("missing lock", call, u, instead+f.text[f.offset(call.End()):f.offset(u.Pos())])
			break
		}
	}
}

// lost adds the slips that leave one argument of min or max out; what is left of two is the other.
func (f *finder) lost(args []ast.Expr) {
	for i, a := range args {
		from, to := f.offset(a.Pos()), f.offset(a.End())
		if i+1 < len(args) {
			to = f.offset(args[i+1].Pos())
		} else if i > 0 {
			from = f.offset(args[i-1].End())
		}
		f.all = append(f.all, slip{f.file, f.fset.Position(a.Pos()).Line, f.in, "min or max lost", f.text[from:to], "", from})
	}
}

// early adds the slips that end a loop with its first round, or where it should go on.
func (f *finder) early(body *ast.BlockStmt) {
	const kind = "loop ends early"
	if len(body.List) > 0 {
		last := body.List[len(body.List)-1]
		f.add(kind, last, f.of(last)+"\nbreak")
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncLit:
			return false // a break ends these instead
		case *ast.BranchStmt:
			if n.Tok == token.CONTINUE {
				f.add(kind, n, "break"+strings.TrimPrefix(f.of(n), "continue"))
			}
		}
		return true
	})
}

// swaps adds the slips that change the order of two neighbours which store something. One of them
// is a call, as the stores that others see are: the order of two plain ones is nobody's.
func (f *finder) swaps(list []ast.Stmt) {
	for i := range len(list) - 1 {
		a, b := list[i], list[i+1]
		if stores(a) && stores(b) && (isCall(a) || isCall(b)) && !f.counts(a) && !f.counts(b) {
			between := f.text[f.offset(a.End()):f.offset(b.Pos())]
			f.replace("swapped stores", a, b, f.of(b)+between+f.of(a))
		}
	}
}

// counts reports whether a statement counts steps for package internal/check/costs. Its bounds are upper ones, so
// that a missing count is no bug.
func (f *finder) counts(s ast.Stmt) bool { return strings.HasPrefix(f.of(s), "cost.") }

// stores reports whether a statement stores something, or calls what may.
func stores(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt:
		return true
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	}
	return false
}

// isLook reports whether an expression loads a word that others store.
func isLook(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	of, ok := call.Fun.(*ast.SelectorExpr)
	return ok && of.Sel.Name == "Load" && len(call.Args) == 0
}

func isCall(s ast.Stmt) bool { _, ok := s.(*ast.ExprStmt); return ok }

// isZero reports whether an expression is 0, nil, false or an empty literal.
func isZero(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Value == "0"
	case *ast.Ident:
		return e.Name == "nil" || e.Name == "false" || e.Name == "None"
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	}
	return false
}

// region is some lines of a file.
type region struct {
	file     string
	from, to int
}

// regions parses what -at has: file:line or file:from-to, with commas between them.
func regions(text string) (all []region, err error) {
	for _, place := range strings.Split(text, ",") {
		file, lines, _ := strings.Cut(place, ":")
		from, to, some := strings.Cut(lines, "-")
		if !some {
			to = from
		}
		p := region{file: file}
		if p.from, err = strconv.Atoi(from); err == nil {
			p.to, err = strconv.Atoi(to)
		}
		if err != nil {
			return nil, fmt.Errorf("-at %q: want file:line or file:from-to: %w", place, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// has reports whether s begins or ends in the lines.
func (p *region) has(s *slip) bool {
	end := s.line + strings.Count(s.old, "\n")
	return s.file == p.file && (p.from <= s.line && s.line <= p.to || p.from <= end && end <= p.to)
}

// draw draws n slips that compile: a line, and then one of its slips. No line comes twice.
func draw(all []slip, seed uint64, n int, compiles func(s *slip) bool) (drawn []slip) {
	rnd := rand.New(rand.NewPCG(seed, 0))
	lines := map[string][]slip{}
	var order []string
	for _, s := range all {
		place := fmt.Sprint(s.file, ":", s.line)
		if lines[place] == nil {
			order = append(order, place)
		}
		lines[place] = append(lines[place], s)
	}
	slices.Sort(order)
	rnd.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for _, place := range order {
		if len(drawn) == n {
			break
		}
		for _, i := range rnd.Perm(len(lines[place])) {
			if s := lines[place][i]; compiles(&s) {
				drawn = append(drawn, s)
				break
			}
		}
	}
	return drawn
}
