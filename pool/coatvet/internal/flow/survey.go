package flow

// This file looks at a function before its states are known, for what the nodes of the graph do not
// tell: what stands around them, and what happens elsewhere in the function.

import (
	"go/ast"
	"go/token"
	"go/types"

	"coatcheck/pool/coatvet/internal/api"
)

// A survey is what is known of a function before the analysis.
type survey struct {
	silent   map[ast.Node]bool   // communications that do not block, since a select has others
	targets  map[ast.Node]bool   // keys and values of range statements, which the graph has as nodes
	channels map[ast.Expr]bool   // what ranges over channels evaluate
	captured map[*types.Var]bool // variables that a literal ends, or hands on: they are not followed
}

// look makes the survey.
func (w *walk) look() {
	w.survey = survey{map[ast.Node]bool{}, map[ast.Node]bool{}, map[ast.Expr]bool{}, map[*types.Var]bool{}}
	ast.Inspect(w.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if n.Key != nil {
				w.targets[n.Key] = true
			}
			if n.Value != nil {
				w.targets[n.Value] = true
			}
			if t := w.info.TypeOf(n.X); t != nil {
				_, ok := t.Underlying().(*types.Chan)
				w.channels[n.X] = ok
			}
		case *ast.SelectStmt:
			// A select waits in its first case, and with a default it does not wait.
			first := true
			for _, c := range n.Body.List {
				first = first && c.(*ast.CommClause).Comm != nil
			}
			for _, c := range n.Body.List {
				if comm := c.(*ast.CommClause).Comm; comm != nil {
					w.silent[comm] = !first
					first = false
				}
			}
		}
		return true
	})
	ast.Inspect(w.body, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if ok {
			w.captures(lit, func(v *types.Var, harmless bool) {
				if !harmless && api.ResourceOf(v.Type()) != nil {
					w.captured[v] = true
				}
			})
		}
		return !ok
	})
	w.correlated()
}

// correlated leaves out a variable that "if x" opens and another "if x" ends, or one that "if !done" ends:
// the state does not know which conditions are the same, nor what is true when done is.
func (w *walk) correlated() {
	opened, ended := map[*types.Var]string{}, map[*types.Var]string{}
	ast.Inspect(w.body, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		if !ok {
			return true
		}
		cond := types.ExprString(s.Cond)
		flag := w.flag(s.Cond)
		ast.Inspect(s.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if v := w.variable(n.Lhs[0]); v != nil && !api.Within(v, s) && w.opens(n.Rhs[0]) != nil {
					opened[v] = cond
				}
			case *ast.CallExpr:
				if c := api.CallOf(w.info, n); c.Ends() != nil {
					if v := w.variable(c.Recv); v != nil && !api.Within(v, s) {
						ended[v] = cond
						w.captured[v] = w.captured[v] || flag
					}
				}
			}
			return true
		})
		return true
	})
	for v, cond := range opened {
		if ended[v] == cond {
			w.captured[v] = true
		}
	}
}

// flag reports whether a condition is a variable, or not a variable, that starts with a constant.
func (w *walk) flag(cond ast.Expr) (found bool) {
	if u, ok := ast.Unparen(cond).(*ast.UnaryExpr); ok && u.Op == token.NOT {
		cond = u.X
	}
	v := w.variable(cond)
	ast.Inspect(w.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				found = found || v != nil && w.variable(l) == v && len(n.Lhs) == len(n.Rhs) && w.info.Types[n.Rhs[i]].Value != nil
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				found = found || v != nil && w.variable(id) == v
			}
		}
		return !found
	})
	return found
}
