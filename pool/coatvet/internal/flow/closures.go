package flow

// This file is about functions in a function: literals, deferred calls and goroutines.

import (
	"go/ast"
	"go/types"

	"coatcheck/pool/coatvet/internal/api"
)

// captures calls use for each mention of a variable from outside of a literal. A mention is harmless
// if it calls a method that does not end a resource, or lends it to such a function.
func (w *walk) captures(lit *ast.FuncLit, use func(v *types.Var, harmless bool)) {
	harmless := map[*ast.Ident]bool{}
	note := func(e ast.Expr) {
		if id, ok := ast.Unparen(e).(*ast.Ident); ok {
			harmless[id] = true
		}
	}
	ast.Inspect(lit, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if c := api.CallOf(w.info, n); c.Type != "" {
				if c.Ends() == nil {
					note(c.Recv)
				}
				break
			}
			helper := w.helper(n)
			for i, a := range n.Args {
				if helper.borrows(i) {
					note(pointee(a))
				}
			}
		case *ast.BinaryExpr:
			if w.isNil(n.Y) {
				note(n.X)
			}
		case *ast.Ident:
			if v, ok := w.info.Uses[n].(*types.Var); ok && !api.Within(v, lit) && !v.IsField() {
				use(v, harmless[n])
			}
		}
		return true
	})
}

// literal evaluates a function literal: it may run at any time.
func (w *walk) literal(lit *ast.FuncLit) {
	w.captures(lit, func(v *types.Var, harmless bool) {
		if _, ok := w.s.pointers[v]; ok && !w.assigns(lit, v) {
			w.use(lit.Pos(), v)
		}
		if !harmless {
			w.s.set(v, func(r *resource) { r.handed = true })
		}
	})
}

// assigns reports whether a literal assigns to v.
func (w *walk) assigns(lit *ast.FuncLit, v *types.Var) (found bool) {
	ast.Inspect(lit, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				found = found || w.variable(l) == v
			}
		case *ast.RangeStmt:
			found = found || n.Key != nil && w.variable(n.Key) == v || n.Value != nil && w.variable(n.Value) == v
		}
		return !found
	})
	return found
}

// deferred runs a defer statement.
func (w *walk) deferred(call *ast.CallExpr) {
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		for _, a := range call.Args {
			w.expr(a, false)
		}
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				w.endsLater(c)
			}
			return true
		})
		return
	}
	if !w.endsLater(call) {
		for _, a := range call.Args {
			w.expr(a, false)
		}
		w.expr(call.Fun, false)
	}
}

// endsLater notes what a deferred call ends. It reports whether it ends something.
func (w *walk) endsLater(call *ast.CallExpr) (ends bool) {
	later := func(e ast.Expr) {
		ends = true
		if v := w.variable(e); v != nil {
			w.s.set(v, func(r *resource) { r.deferred = true })
		}
	}
	c := api.CallOf(w.info, call)
	if c.Ends() != nil {
		later(c.Recv)
	}
	if helper := w.helper(call); c.Type == "" {
		for i, a := range call.Args {
			if helper.ends(i) {
				later(pointee(a))
			}
		}
	}
	return ends
}

// launch runs a go statement.
func (w *walk) launch(call *ast.CallExpr) {
	for _, a := range call.Args {
		w.expr(a, false)
	}
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		w.start(lit)
	} else {
		w.expr(call.Fun, false)
	}
}

// start starts a goroutine that runs a literal.
func (w *walk) start(lit *ast.FuncLit) {
	w.captures(lit, func(v *types.Var, harmless bool) {
		w.s.set(v, func(r *resource) { r.joined, r.handed = true, r.handed || !harmless })
		for o := range w.s.pointers[v].owners {
			if held, ok := o.(*types.Var); ok {
				w.s.set(held, func(r *resource) { r.joined = true })
			}
		}
	})
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if c := api.CallOf(w.info, call); c.Is("Pool", "Remove", "Take") {
				if key := w.key(c.Args[0]); key != "" {
					w.s.removable[key] = true
				}
			}
		}
		return true
	})
}
