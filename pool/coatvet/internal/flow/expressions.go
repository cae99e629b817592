package flow

// This file says what expressions do to a state.

import (
	"go/ast"
	"go/token"
	"go/types"
)

// expr evaluates an expression. If silent, its communication does not block.
func (w *walk) expr(e ast.Expr, silent bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			w.literal(n)
			return false
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ { // a comparison is no use
				for _, x := range []ast.Expr{n.X, n.Y} {
					if w.variable(x) == nil {
						w.expr(x, silent)
					}
				}
				return false
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				w.expr(n.X, silent)
				w.blocks(n.Pos(), "a receive from a channel", silent)
				return false
			}
		case *ast.CallExpr:
			w.call(n, silent)
			return false
		case *ast.SelectorExpr:
			w.expr(n.X, silent)
			return false
		case *ast.KeyValueExpr:
			w.expr(n.Value, silent)
			return false
		case *ast.Ident:
			if v, ok := w.info.Uses[n].(*types.Var); ok {
				w.use(n.Pos(), v)
				w.hand(v) // it is mentioned, but no method is called
			}
		}
		return true
	})
}

// hand hands the resource in v to others, who use it, and may end it.
func (w *walk) hand(v *types.Var) {
	w.s.set(v, func(r *resource) { r.joined, r.handed = true, r.handed || w.reach.endsElsewhere(v) })
}
