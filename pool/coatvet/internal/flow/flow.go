// Package flow follows Guards, Refs, Reservations and the pointers that they protect through each
// function of a package. It finds what the checks coatlost, coatstale and coatblock report.
//
// Words. A resource is a value that must be ended: a Guard, a tree.Reader, a Ref or a Reservation
// (package api). Calls open it and end it. A pointer is one into a pool. It depends on its owners: the
// resource, the loop or the handle without which it is not valid. A holder is where a resource is kept
// that is no local variable: a field, a slice, a channel.
//
// There are two questions, with an analysis each:
//
//	Does anything ever end it?     reach.go: where the resources of the whole package may go,
//	                               without regard to order.
//	Is it ended on each path, and  state.go, graph.go: what may hold before and after each
//	what is used after its end?    statement of a function, for local variables.
//
// The second goes over the control-flow graph until nothing changes, and then once more to report. A
// state says what may hold on some path. survey.go looks at the function before. What each kind of syntax
// does to a state is in a file of its own: statements.go, expressions.go, calls.go, and closures.go for
// function literals, deferred calls and goroutines. resources.go and pointers.go have the rules for
// these. blocking.go lists calls that may block.
//
// helpers.go sums up a function that returns a resource, or has one as a parameter, as a fact that
// callers in this and other packages use.
//
// Whatever is not understood counts as right: a resource that goes to code of which nothing is known
// is ended there.
package flow

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/cfg"

	"coatcheck/pool/coatvet/internal/api"
	"coatcheck/pool/coatvet/internal/options"
)

// A Finding is a mistake that this package has found.
type Finding struct {
	Check Check
	Pos   token.Pos
	Text  string // what is wrong and the cure
}

// A Check says which check reports a finding.
type Check int

const (
	Lost  Check = iota // a resource that is not ended
	Stale              // a pointer whose protection has ended
	Block              // a wait while a pin delays the reuse of slots
)

// Analyzer returns the findings of a package, as a []Finding in the order of their places.
var Analyzer = &analysis.Analyzer{
	Name:       "coatflow",
	Doc:        "follow Guards, Refs, Reservations and pointers into a pool",
	Requires:   []*analysis.Analyzer{inspect.Analyzer, ctrlflow.Analyzer},
	FactTypes:  []analysis.Fact{new(Helper)},
	ResultType: reflect.TypeFor[[]Finding](),
	Run:        run,
}

// A program is the package that is analyzed.
type program struct {
	pass      *analysis.Pass
	info      *types.Info
	functions map[ast.Node]*function // by its FuncDecl or FuncLit
	declared  map[*types.Func]*function
	literals  map[*types.Var]*ast.FuncLit // variables that have this function, always
	reach     *reach
	resets    map[types.Object]bool // what has only pools with Options.Reset
	found     map[Finding]bool
	told      map[token.Pos]bool // openings that were reported, or need no end
}

// A function is one with a body: declared, or a literal.
type function struct {
	node    ast.Node // FuncDecl or FuncLit
	sig     *types.Signature
	body    *ast.BlockStmt
	graph   *cfg.CFG
	pin     string // "View" if the function runs under its pin
	started bool
	summary Helper
}

func run(pass *analysis.Pass) (any, error) {
	if !api.Uses(pass.Pkg) {
		return []Finding(nil), nil
	}
	p := &program{
		pass: pass, info: pass.TypesInfo, functions: map[ast.Node]*function{}, declared: map[*types.Func]*function{},
		literals: map[*types.Var]*ast.FuncLit{}, resets: options.Pools(pass, "Reset"),
		found: map[Finding]bool{}, told: map[token.Pos]bool{},
	}
	all := p.list()
	p.reach = newReach(p)
	for _, f := range all {
		p.analyze(f)
	}
	p.neverEnded()
	var found []Finding
	for x := range p.found {
		found = append(found, x)
	}
	slices.SortFunc(found, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Pos, b.Pos), cmp.Compare(a.Text, b.Text)) })
	return found, nil
}

// list lists the functions with a body.
func (p *program) list() (all []*function) {
	graphs := p.pass.ResultOf[ctrlflow.Analyzer].(*ctrlflow.CFGs)
	nodes := p.pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	assigned := map[*types.Var]int{}
	nodes.Preorder([]ast.Node{(*ast.FuncDecl)(nil), (*ast.FuncLit)(nil), (*ast.AssignStmt)(nil)}, func(n ast.Node) {
		f := &function{node: n}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				v := p.variable(l)
				if assigned[v]++; len(n.Lhs) != len(n.Rhs) || v == nil {
					continue
				}
				if lit, ok := ast.Unparen(n.Rhs[i]).(*ast.FuncLit); ok {
					p.literals[v] = lit
				}
			}
			return
		case *ast.FuncDecl:
			fn, ok := p.info.Defs[n.Name].(*types.Func)
			if n.Body == nil || !ok {
				return
			}
			f.body, f.graph, f.sig = n.Body, graphs.FuncDecl(n), fn.Signature()
			p.declared[fn] = f
		case *ast.FuncLit:
			f.body, f.graph = n.Body, graphs.FuncLit(n)
			f.sig, _ = p.info.TypeOf(n.Type).(*types.Signature)
		}
		if f.graph != nil && f.sig != nil {
			p.functions[n] = f
			all = append(all, f)
		}
	})
	for v := range p.literals {
		if assigned[v] > 1 {
			delete(p.literals, v)
		}
	}
	nodes.Preorder([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node) {
		c := api.CallOf(p.info, n.(*ast.CallExpr))
		if c.Is("Pool", "View", "DeleteFunc") || c.Is("Ptr", "View") {
			if lit, ok := ast.Unparen(c.Args[len(c.Args)-1]).(*ast.FuncLit); ok && p.functions[lit] != nil {
				p.functions[lit].pin = c.Name
			}
		}
	})
	return all
}

// callee returns the function of this package that a call calls, if that is known.
func (p *program) callee(call *ast.CallExpr) *function {
	if fn, _ := api.Function(p.info, call); fn != nil {
		return p.declared[fn]
	}
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.FuncLit:
		return p.functions[f]
	case *ast.Ident:
		if lit := p.literals[p.variable(f)]; lit != nil {
			return p.functions[lit]
		}
	}
	return nil
}

// report notes a finding.
func (p *program) report(check Check, pos token.Pos, format string, args ...any) {
	p.found[Finding{check, pos, fmt.Sprintf(format, args...)}] = true
}

// line returns the number of a line, for messages.
func (p *program) line(pos token.Pos) int { return p.pass.Fset.Position(pos).Line }

// variable returns the variable that an identifier denotes, or nil.
func (p *program) variable(e ast.Expr) *types.Var { return api.Variable(p.info, e) }

func (p *program) isNil(e ast.Expr) bool {
	tv, ok := p.info.Types[e]
	return ok && tv.IsNil()
}
