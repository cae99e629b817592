package coatvet

// This file has the check coatshared: Workers, each of which is for one goroutine at a time.

import (
	"go/ast"
	"go/types"

	"coatcheck/pool/coatvet/internal/api"
)

// shared reports a Worker that two goroutines use, or one that a loop starts, where the Worker is from
// outside of the loop.
func shared(s *source) {
	users := map[*types.Var]int{}
	s.WithStack([]ast.Node{(*ast.FuncLit)(nil)}, func(n ast.Node, push bool, stack []ast.Node) bool {
		lit := n.(*ast.FuncLit)
		if !push || !s.startsGoroutine(stack) {
			return true
		}
		seen := map[*types.Var]bool{}
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			c := api.CallOf(s.info, call)
			if c.Type != "Worker" {
				return true
			}
			w := s.variable(c.Recv)
			if w == nil || api.Within(w, lit) || seen[w] {
				return true
			}
			seen[w] = true
			if users[w]++; users[w] == 2 || inLoop(w, stack) {
				s.report(c.Pos(), "several goroutines use the Worker %s: let each make one of its own", w.Name())
			}
			return true
		})
		return true
	})
}

// startsGoroutine reports whether the literal that ends a stack runs in a goroutine: that of a go
// statement, or the argument of a method Go, as of a WaitGroup and of errgroup.
func (s *source) startsGoroutine(stack []ast.Node) bool {
	if len(stack) < 3 {
		return false
	}
	call, ok := stack[len(stack)-2].(*ast.CallExpr)
	if !ok {
		return false
	}
	if call.Fun == stack[len(stack)-1] {
		_, ok := stack[len(stack)-3].(*ast.GoStmt)
		return ok
	}
	fn, _ := api.Function(s.info, call)
	return fn != nil && fn.Name() == "Go" && fn.Signature().Recv() != nil
}

// inLoop reports whether there is a loop between v, which is from outside of it, and the end of the
// stack.
func inLoop(v *types.Var, stack []ast.Node) bool {
	for _, n := range stack {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if v.Pos() < n.Pos() && api.Within(v, enclosing(v, stack)) {
				return true
			}
		}
	}
	return false
}

// enclosing returns the innermost function of a stack in which v is declared.
func enclosing(v *types.Var, stack []ast.Node) ast.Node {
	found := stack[0]
	for _, n := range stack {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			if api.Within(v, n) {
				found = n
			}
		}
	}
	return found
}
