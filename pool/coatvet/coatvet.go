package coatvet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"coatcheck/pool/coatvet/internal/api"
	"coatcheck/pool/coatvet/internal/flow"
)

// Analyzers are the checks, in the order of the package comment.
var Analyzers = []*analysis.Analyzer{coatlost, coatstale, coatblock, coatcopy, coathandle, coatshared, coatview, coaterror, coatignore}

// The checks that follow values through functions. Package flow has how.
var (
	coatlost  = fromFlow(flow.Lost, "coatlost", "report a Guard, Ref or Reservation that is not ended on each path")
	coatstale = fromFlow(flow.Stale, "coatstale", "report a pointer into a pool that is used after its protection has ended")
	coatblock = fromFlow(flow.Block, "coatblock", "report what may block while a Guard or a loop pins the pool")
)

// The checks that look at one expression, statement or declaration at a time.
var (
	coatcopy   = fromSyntax("coatcopy", "report copies of values that have a lock or an atomic, and writes to copies that nobody reads", copies)
	coathandle = fromSyntax("coathandle", "report types that lose the methods of pool.Handle, and pools by value", handles)
	coatshared = fromSyntax("coatshared", "report a Worker that several goroutines use", shared)
	coatview   = fromSyntax("coatview", "report a pointer that leaves the function of View, Each or DeleteFunc", views)
	coaterror  = fromSyntax("coaterror", "report an ignored error of an insertion into a bounded pool", ignoredErrors)
)

// fromFlow returns the analyzer that reports the findings of package flow for one check.
func fromFlow(check flow.Check, name, doc string) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name, Doc: doc, Requires: []*analysis.Analyzer{flow.Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			r := newReporter(pass)
			for _, f := range pass.ResultOf[flow.Analyzer].([]flow.Finding) {
				if f.Check == check {
					r.report(f.Pos, "%s", f.Text)
				}
			}
			return nil, nil
		},
	}
}

// A source is what a check of syntax looks at.
type source struct {
	*reporter
	*inspector.Inspector
	info *types.Info
}

// fromSyntax returns the analyzer that runs a check on each package that uses coatcheck/pool.
func fromSyntax(name, doc string, check func(s *source)) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name, Doc: doc, Requires: []*analysis.Analyzer{inspect.Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			if api.Uses(pass.Pkg) {
				check(&source{newReporter(pass), pass.ResultOf[inspect.Analyzer].(*inspector.Inspector), pass.TypesInfo})
			}
			return nil, nil
		},
	}
}

// variable returns the variable that an identifier denotes, or nil.
func (s *source) variable(e ast.Expr) *types.Var { return api.Variable(s.info, e) }

// functions calls do for each function with a body, with its node: a FuncDecl or a FuncLit.
func (s *source) functions(do func(n ast.Node, body *ast.BlockStmt)) {
	s.Preorder([]ast.Node{(*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				do(n, n.Body)
			}
		case *ast.FuncLit:
			do(n, n.Body)
		}
	})
}

// inTest reports whether a place is in a file of tests.
func (s *source) inTest(pos token.Pos) bool { return api.InTest(s.pass, pos) }
