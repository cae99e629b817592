package coatvet

// This file has the check coatcopy: copies of values.

import (
	"go/ast"
	"go/token"
	"go/types"

	"coatcheck/pool/coatvet/internal/api"
)

// copies reports calls that copy a value with a lock or an atomic, and copies that are only written to.
func copies(s *source) {
	s.Preorder([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node) {
		c := api.CallOf(s.info, n.(*ast.CallExpr))
		if c.Is("Pool", "Get", "MustGet", "Take", "Drain") || c.Is("Ptr", "Get") || c.Is("Worker", "Take") {
			if field, part := synchronizer(c.Elem); part != "" {
				s.report(c.Pos(), "%s copies a value with %s without synchronization: use View, a Guard or Hold, or keep pointers in the pool", c.Name, where(field, part))
			}
		}
	})
	s.functions(func(n ast.Node, body *ast.BlockStmt) {
		for v := range s.copied(body) {
			if write, read := s.uses(body, v); write.IsValid() && !read {
				s.report(write, "%s is a copy, so this does not change the value in the pool: use View or a Guard", v.Name())
			}
		}
	})
}

// copied returns the variables of a function that have a copy of a struct in a pool.
func (s *source) copied(body *ast.BlockStmt) map[*types.Var]bool {
	all := map[*types.Var]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 || a.Tok != token.DEFINE {
			return true
		}
		if c := api.CallOf(s.info, a.Rhs[0]); !c.Is("Pool", "Get", "MustGet") && !c.Is("Ptr", "Get") {
			return true
		}
		if v := s.variable(a.Lhs[0]); v != nil {
			if _, ok := v.Type().Underlying().(*types.Struct); ok {
				all[v] = true
			}
		}
		return true
	})
	return all
}

// uses returns where a function writes to a field of v, and reports whether it uses v otherwise.
func (s *source) uses(body *ast.BlockStmt, v *types.Var) (write token.Pos, read bool) {
	written := map[*ast.Ident]bool{}
	note := func(target ast.Expr) {
		sel, ok := ast.Unparen(target).(*ast.SelectorExpr)
		if !ok {
			return
		}
		if id, ok := ast.Unparen(sel.X).(*ast.Ident); ok && s.info.Uses[id] == v {
			write, written[id] = sel.Pos(), true
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				note(l)
			}
		case *ast.IncDecStmt:
			note(n.X)
		case *ast.Ident:
			read = read || s.info.Uses[n] == v && !written[n]
		}
		return true
	})
	return write, read
}

// synchronizer returns a part of a value of type t that must not be copied while others use it, and the
// field that has it. Like vet's copylocks it knows those with Lock and Unlock of a pointer, and besides
// all structs of sync and sync/atomic.
func synchronizer(t types.Type) (field, part string) {
	if t == nil {
		return "", ""
	}
	t = types.Unalias(t)
	if n, ok := t.(*types.Named); ok && n.Obj().Pkg() != nil && !types.IsInterface(t) {
		_, isStruct := t.Underlying().(*types.Struct)
		path := n.Obj().Pkg().Path()
		if isStruct && (path == "sync" || path == "sync/atomic") || isLock(t) {
			return "", t.String()
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if field, part := synchronizer(f.Type()); part != "" {
				return "." + f.Name() + field, part
			}
		}
	case *types.Array:
		if u.Len() > 0 {
			return synchronizer(u.Elem())
		}
	}
	return "", ""
}

// isLock reports whether a pointer to t has Lock and Unlock, and t has not.
func isLock(t types.Type) bool {
	byPointer, byValue := types.NewMethodSet(types.NewPointer(t)), types.NewMethodSet(t)
	return byPointer.Lookup(nil, "Lock") != nil && byPointer.Lookup(nil, "Unlock") != nil && byValue.Lookup(nil, "Lock") == nil
}

// where names a part: ".mu, a sync.Mutex", or "a sync.Mutex".
func where(field, part string) string {
	if field != "" {
		return field + ", a " + part
	}
	return "a " + part
}
