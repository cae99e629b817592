// Package options tells with which options the pools of a program are made.
package options

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"

	"coatcheck/pool/coatvet/internal/api"
)

// Pools returns the variables and fields of a package to which only pools with one of these options are
// assigned.
func Pools(pass *analysis.Pass, options ...string) map[types.Object]bool {
	info, having, lacking := pass.TypesInfo, map[types.Object]bool{}, map[types.Object]bool{}
	note := func(target types.Object, e ast.Expr) {
		t := info.TypeOf(e)
		if tuple, ok := t.(*types.Tuple); ok && tuple.Len() > 0 {
			t = tuple.At(0).Type()
		}
		if name, _ := api.TypeOf(t); target == nil || name != "Pool" {
			return
		}
		if has(info, e, options) {
			having[target] = true
		} else {
			lacking[target] = true
		}
	}
	for _, file := range pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, r := range n.Rhs {
					note(Object(info, n.Lhs[i]), r)
				}
			case *ast.ValueSpec:
				for i, r := range n.Values {
					note(info.Defs[n.Names[i]], r)
				}
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok {
					if f, ok := info.Uses[id].(*types.Var); ok && f.IsField() {
						note(f, n.Value)
					}
				}
			}
			return true
		})
	}
	for o := range lacking {
		delete(having, o)
	}
	return having
}

// Object returns the variable or field that an expression denotes, or nil.
func Object(info *types.Info, e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v := api.Variable(info, e); v != nil {
			return v
		}
	case *ast.SelectorExpr:
		if v, ok := info.Uses[e.Sel].(*types.Var); ok {
			return v.Origin()
		}
	}
	return nil
}

// has reports whether e makes a pool with one of these options: a call of New or Must with a literal.
func has(info *types.Info, e ast.Expr, options []string) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	fn, _ := api.Function(info, call)
	if fn == nil || !api.IsPool(fn.Pkg()) || fn.Name() != "New" && fn.Name() != "Must" {
		return false
	}
	u, ok := ast.Unparen(call.Args[0]).(*ast.UnaryExpr)
	if !ok {
		return false
	}
	lit, ok := ast.Unparen(u.X).(*ast.CompositeLit)
	if !ok {
		return false
	}
	return slices.ContainsFunc(lit.Elts, func(el ast.Expr) bool {
		kv, ok := el.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		id, ok := kv.Key.(*ast.Ident)
		return ok && slices.Contains(options, id.Name) && !info.Types[kv.Value].IsNil()
	})
}

// Refers reports whether a value of type t refers to memory that a Reset may keep for the next one.
func Refers(t types.Type) bool { return refers(t, 5) }

func refers(t types.Type, depth int) bool {
	if t == nil || depth == 0 {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Pointer:
		return true
	case *types.Struct:
		for f := range u.Fields() {
			if refers(f.Type(), depth-1) {
				return true
			}
		}
	case *types.Array:
		return refers(u.Elem(), depth-1)
	}
	return false
}
