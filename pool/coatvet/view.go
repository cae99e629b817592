package coatvet

// This file has the check coatview: pointers that leave the function that got them, and values that are
// live before they are complete.

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"coatcheck/pool/coatvet/internal/api"
)

func views(s *source) {
	s.Preorder([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node) {
		c := api.CallOf(s.info, n.(*ast.CallExpr))
		if c.Is("Pool", "View", "Each", "DeleteFunc") || c.Is("Ptr", "View") {
			if lit, ok := ast.Unparen(c.Args[len(c.Args)-1]).(*ast.FuncLit); ok {
				s.escapes(c, lit)
			}
		}
	})
	s.Preorder([]ast.Node{(*ast.BlockStmt)(nil)}, func(n ast.Node) { s.completed(n.(*ast.BlockStmt)) })
}

// escapes reports where the last parameter of lit, a pointer into the pool, goes to what outlives lit.
func (s *source) escapes(c api.Call, lit *ast.FuncLit) {
	params := lit.Type.Params.List
	names := params[len(params)-1].Names
	if len(names) == 0 {
		return
	}
	v, ok := s.info.Defs[names[len(names)-1]].(*types.Var)
	if !ok {
		return
	}
	escape := func(pos token.Pos) {
		s.report(pos, "%s is valid only until the function of %s returns, and this keeps it: keep the handle, or use Hold", v.Name(), c.Name)
	}
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, r := range n.Rhs {
				if len(n.Lhs) == len(n.Rhs) && s.pointsInto(r, v) {
					if target := api.Root(s.info, n.Lhs[i]); target != nil && !api.Within(target, lit) {
						escape(n.Pos())
					}
				}
			}
		case *ast.SendStmt:
			if s.pointsInto(n.Value, v) {
				escape(n.Pos())
			}
		case *ast.GoStmt:
			if s.mentions(n, v) && c.Name != "Each" { // Each may wait for it
				escape(n.Pos())
			}
		}
		return true
	})
}

// pointsInto reports whether e is v, or the address of a part of *v, or appends one.
func (s *source) pointsInto(e ast.Expr, v *types.Var) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return s.info.Uses[e] == v
	case *ast.UnaryExpr:
		if e.Op != token.AND {
			return false
		}
		for x := ast.Unparen(e.X); ; {
			sel, ok := x.(*ast.SelectorExpr)
			if !ok || s.variable(sel.X) == v {
				return ok
			}
			if api.IsPointer(s.info.TypeOf(sel.X)) {
				return false
			}
			x = ast.Unparen(sel.X)
		}
	case *ast.CallExpr:
		if api.IsAppend(s.info, e.Fun) {
			for _, a := range e.Args[1:] {
				if s.pointsInto(a, v) {
					return true
				}
			}
		}
	}
	return false
}

// mentions reports whether n uses v.
func (s *source) mentions(n ast.Node, v *types.Var) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && s.info.Uses[id] == v
		return !found
	})
	return found
}

// completed reports a block that inserts a value, and then stores the handle in it:
//
//	h, err := p.Insert(v)
//	x, ok := p.Pointer(h)
//	x.Self = h
func (s *source) completed(block *ast.BlockStmt) {
	inserted := map[*types.Var]bool{}     // handles
	handle := map[*types.Var]*types.Var{} // of a pointer
	for _, stmt := range block.List {
		a, ok := stmt.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 {
			continue
		}
		target := s.variable(a.Lhs[0])
		c := api.CallOf(s.info, a.Rhs[0])
		switch {
		case c.Type != "" && strings.HasPrefix(c.Name, "Insert") && target != nil:
			inserted[target] = true
		case c.Is("Pool", "Pointer") && target != nil:
			handle[target] = s.variable(c.Args[0])
		case c.Type == "":
			sel, ok := ast.Unparen(a.Lhs[0]).(*ast.SelectorExpr)
			if !ok {
				break
			}
			if v, h := s.variable(sel.X), s.variable(a.Rhs[0]); v != nil && h != nil && handle[v] == h && inserted[h] {
				s.report(a.Pos(), "others may find the value before it has its own handle: store the handle in the function of InsertFunc")
			}
		}
	}
}
