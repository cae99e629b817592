package flow

// This file reads the syntax of a package for the graph of reach.go.

import (
	"go/ast"
	"go/types"

	"coatcheck/pool/coatvet/internal/api"
)

// prepare notes the calls, and the functions that are used as values.
func (r *reach) prepare(n ast.Node) {
	switch n := n.(type) {
	case *ast.CallExpr:
		r.called[ast.Unparen(n.Fun)] = true
		if t := r.info.TypeOf(n); r.carries(t) {
			r.calls[n] = types.NewVar(n.Pos(), r.pass.Pkg, "call", t)
		}
	case *ast.SelectorExpr:
		if r.called[n] {
			r.called[n.Sel] = true
		}
	case *ast.Ident:
		if fn, ok := r.info.Uses[n].(*types.Func); ok && !r.called[n] {
			r.values[fn.Origin()] = true
		}
	}
}

// result returns the node of what a function returns, or nil if there may be calls that are not
// known, by other packages or of a function value.
func (r *reach) result(f *function) types.Object {
	d, ok := f.node.(*ast.FuncDecl)
	if !ok || d.Name.IsExported() || r.values[r.info.Defs[d.Name]] {
		return nil
	}
	if r.functions[f] == nil {
		r.functions[f] = types.NewVar(f.node.Pos(), r.pass.Pkg, "result", f.sig.Results())
	}
	return r.functions[f]
}

// add adds what a piece of syntax says, which is part of the function fn, or of none.
func (r *reach) add(n ast.Node, fn *function) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		r.assign(n.Lhs, n.Rhs)
	case *ast.ValueSpec:
		lhs := make([]ast.Expr, len(n.Names))
		for i, id := range n.Names {
			lhs[i] = id
		}
		r.assign(lhs, n.Values)
	case *ast.RangeStmt:
		for _, target := range []ast.Expr{n.Key, n.Value} {
			if t := r.info.TypeOf(target); target != nil && t != nil && (r.carries(t) || types.IsInterface(t)) {
				r.flow(n.X, target)
			}
		}
	case *ast.SendStmt:
		r.flow(n.Value, n.Chan)
	case *ast.ReturnStmt:
		for _, e := range n.Results {
			// A resource goes to the caller, who must end it: see Helper.
			if target := r.result(fn); target != nil && api.ResourceOf(r.info.TypeOf(e)) == nil && r.carries(r.info.TypeOf(e)) {
				r.flowTo(e, target)
			} else {
				r.leave(e)
			}
		}
	case *ast.CompositeLit:
		r.literal(n)
	case *ast.CallExpr:
		r.call(n)
	case *ast.SelectorExpr: // g.Unpin, whether it is called or not
		if recv, typ, name := api.Method(r.info, n); recv != nil && api.Ends(typ, name) != nil {
			nodes := r.nodes(recv)
			if f := embedded(r.info.Selections[n]); f != nil {
				nodes = append(nodes, f)
			}
			for _, o := range nodes {
				if !r.called[n] {
					r.left[o] = true
				} else if r.ended[o] == nil {
					r.ended[o] = map[string]bool{name: true}
				} else {
					r.ended[o][name] = true
				}
			}
		}
	case *ast.FuncType:
		if n.Results == nil {
			return
		}
		for _, field := range n.Results.List {
			for _, id := range field.Names {
				r.left[r.info.Defs[id]] = true // what a named result has goes to the caller
			}
		}
	}
}

// embedded returns the last embedded field on the way to a method, or nil.
func embedded(s *types.Selection) (f types.Object) {
	t := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		u, ok := t.Underlying().(*types.Struct)
		if !ok {
			return f
		}
		f, t = u.Field(i).Origin(), u.Field(i).Type()
	}
	return f
}

// assign adds lhs = rhs.
func (r *reach) assign(lhs, rhs []ast.Expr) {
	for i, e := range rhs {
		if len(lhs) != len(rhs) && i > 0 {
			break
		}
		r.flow(e, lhs[i])
	}
}

// flow adds that what source holds goes to the place target.
func (r *reach) flow(source, target ast.Expr) {
	if !r.carries(r.info.TypeOf(source)) || api.IsBlank(target) {
		return
	}
	targets := r.nodes(target)
	if len(targets) == 0 || !r.carries(r.info.TypeOf(target)) {
		r.leave(source) // to what is not known, or into an interface
		return
	}
	_, through := ast.Unparen(target).(*ast.StarExpr)
	for _, o := range targets {
		r.through[o] = r.through[o] || through
		r.flowTo(source, o)
	}
}

// flowTo adds that what source holds goes to the node target.
func (r *reach) flowTo(source ast.Expr, target types.Object) {
	for _, o := range r.nodes(source) {
		r.connect(o, target, r.info.TypeOf(source))
	}
}

// connect adds that what the node source holds goes to target as a value of type t.
func (r *reach) connect(source, target types.Object, t types.Type) {
	r.edges[source] = append(r.edges[source], target)
	if api.ResourceOf(source.Type()) == nil && shares(t) {
		r.edges[target] = append(r.edges[target], source)
	}
}

// shares reports whether a value of type t refers to the holder that it came from.
func shares(t types.Type) bool {
	t = api.First(t)
	if t == nil || api.ResourceOf(t) != nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Chan, *types.Pointer:
		return true
	}
	return false
}

// leave says that the value of an expression leaves, if it has a resource.
func (r *reach) leave(e ast.Expr) {
	if r.carries(r.info.TypeOf(e)) {
		for _, o := range r.nodes(e) {
			r.left[o] = true
		}
	}
}

// nodes returns the nodes of an expression: that of the last field on its path, or of its variable,
// or of the call; of append and of literals, those of all operands.
func (r *reach) nodes(e ast.Expr) (all []types.Object) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v := r.variable(e); v != nil {
			r.reachable(v)
			return []types.Object{v.Origin()}
		}
	case *ast.SelectorExpr:
		if v, ok := r.info.Uses[e.Sel].(*types.Var); ok {
			r.reachable(v)
			return []types.Object{v.Origin()}
		}
	case *ast.IndexExpr:
		return r.nodes(e.X)
	case *ast.SliceExpr:
		return r.nodes(e.X)
	case *ast.StarExpr:
		return r.nodes(e.X)
	case *ast.UnaryExpr:
		return r.nodes(e.X)
	case *ast.TypeAssertExpr:
		return r.nodes(e.X)
	case *ast.CompositeLit:
		for _, el := range e.Elts {
			if kv, ok := el.(*ast.KeyValueExpr); ok {
				el = kv.Value
			}
			if r.carries(r.info.TypeOf(el)) {
				all = append(all, r.nodes(el)...)
			}
		}
	case *ast.CallExpr:
		if api.IsAppend(r.info, e.Fun) {
			for _, a := range e.Args {
				all = append(all, r.nodes(a)...)
			}
			return all
		}
		if o := r.calls[e]; o != nil {
			return []types.Object{o}
		}
	}
	return all
}

// reachable lets leave what other packages can reach: fields of theirs, and exported fields and
// variables, unless this is a program or a test.
func (r *reach) reachable(v *types.Var) {
	global := v.IsField() || v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
	if global && (v.Pkg() != r.pass.Pkg || v.Exported() && !r.closed && !api.InTest(r.pass, v.Pos())) {
		r.left[v.Origin()] = true
	}
}

// literal adds what a composite literal puts into fields, and into elements of any type.
func (r *reach) literal(lit *ast.CompositeLit) {
	t := r.info.TypeOf(lit)
	if t == nil {
		return
	}
	s, isStruct := t.Underlying().(*types.Struct)
	for i, el := range lit.Elts {
		var field *types.Var
		if isStruct && i < s.NumFields() {
			field = s.Field(i)
		}
		if kv, ok := el.(*ast.KeyValueExpr); ok {
			el = kv.Value
			if id, ok := kv.Key.(*ast.Ident); ok && isStruct {
				field, _ = r.info.Uses[id].(*types.Var)
			}
		}
		switch {
		case isStruct && field != nil && r.carries(field.Type()):
			r.reachable(field)
			r.flowTo(el, field.Origin())
		case isStruct || !r.carries(t):
			r.leave(el)
		}
	}
}

// call adds what a call does with its arguments.
func (r *reach) call(call *ast.CallExpr) {
	if api.CallOf(r.info, call).Type != "" || api.IsAppend(r.info, call.Fun) {
		return
	}
	if r.info.Types[call.Fun].IsType() { // a conversion
		r.leave(call.Args[0])
		return
	}
	f, h := r.callee(call), Helper{}
	if f == nil {
		h = r.helper(call)
	}
	if result := r.calls[call]; result != nil && (h.Passes || f != nil && r.passes(f)) {
		r.flowTo(call.Args[0], result)
		return
	} else if result != nil && f != nil && r.result(f) != nil {
		r.connect(r.result(f), result, f.sig.Results())
	}
	for i, a := range call.Args {
		switch {
		case h.borrows(i) || !r.carries(r.info.TypeOf(a)):
		case f == nil || i >= f.sig.Params().Len() || !r.carries(f.sig.Params().At(i).Type()):
			r.leave(a) // also into a parameter of any type
		default:
			r.flowTo(a, f.sig.Params().At(i))
		}
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if f == nil {
			r.leave(sel.X)
		} else if recv := f.sig.Recv(); recv != nil && r.carries(r.info.TypeOf(sel.X)) {
			r.flowTo(sel.X, recv)
		}
	}
}
