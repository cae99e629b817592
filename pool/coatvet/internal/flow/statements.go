package flow

// This file says what statements do to a state.

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"

	"coatcheck/pool/coatvet/internal/api"
)

// statement runs a node of the graph.
func (w *walk) statement(n ast.Node) {
	silent := w.silent[n]
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, e := range n.Rhs {
			w.expr(e, silent)
			w.copied(w.variable(e))
		}
		for _, e := range n.Lhs {
			if _, ok := ast.Unparen(e).(*ast.Ident); !ok || n.Tok != token.ASSIGN && n.Tok != token.DEFINE {
				w.expr(e, silent)
			}
		}
		w.assign(n.Lhs, n.Rhs)
	case *ast.ValueSpec:
		lhs := make([]ast.Expr, len(n.Names))
		for i, id := range n.Names {
			lhs[i] = id
		}
		for _, e := range n.Values {
			w.expr(e, false)
		}
		w.assign(lhs, n.Values)
	case *ast.ExprStmt:
		if r := w.opens(n.X); r != nil {
			w.dropped(n.Pos(), r, n.X)
		}
		w.expr(n.X, silent)
	case *ast.SendStmt:
		w.expr(n.Chan, false)
		w.expr(n.Value, false)
		w.blocks(n.Pos(), "a send on a channel", silent)
	case *ast.DeferStmt:
		w.deferred(n.Call)
	case *ast.GoStmt:
		w.launch(n.Call)
	case *ast.ReturnStmt:
		w.returns(n)
	case ast.Expr:
		if w.channels[n] {
			w.blocks(n.Pos(), "a loop over a channel", false)
		}
		w.expr(n, silent)
	case *ast.IncDecStmt:
		w.expr(n.X, false)
	}
}

// copied hands on the resource of which v tells whether there is one: what the copy tells is not known.
func (w *walk) copied(v *types.Var) {
	for held, r := range w.s.resources {
		if v != nil && r.ok == v {
			r.handed = true
			w.s.resources[held] = r
		}
	}
}

// assign runs an assignment whose expressions were evaluated.
func (w *walk) assign(lhs, rhs []ast.Expr) {
	if len(rhs) == 1 && len(lhs) > 0 {
		if r := w.opens(rhs[0]); r != nil {
			w.acquire(r, rhs[0], lhs)
			return
		}
	}
	sources := make([]*pointer, len(lhs))
	if len(rhs) == len(lhs) {
		for i, r := range rhs {
			sources[i] = w.source(r)
		}
	} else if len(rhs) == 1 {
		sources[0] = w.source(rhs[0])
	}
	for i, l := range lhs {
		w.bind(l, sources[i])
		if p := sources[i]; p != nil {
			w.stores(l, p)
		}
	}
}

// bind assigns to lhs something that is no resource. p is nil unless it is a pointer into a pool.
func (w *walk) bind(lhs ast.Expr, p *pointer) {
	w.overwritten(lhs)
	v := w.variable(lhs)
	if v == nil {
		return
	}
	delete(w.s.resources, v)
	for held, r := range w.s.resources {
		if r.ok == v {
			r.ok = nil
			w.s.resources[held] = r
		}
	}
	if p == nil {
		delete(w.s.pointers, v)
	} else {
		w.s.pointers[v] = *p
	}
}

// overwritten forgets what depends on the handle that lhs had.
func (w *walk) overwritten(lhs ast.Expr) {
	key := w.key(lhs)
	if key == "" {
		return
	}
	depends := func(k string) bool { return k == key || len(k) > len(key) && k[:len(key)+1] == key+"." }
	for v, p := range w.s.pointers {
		for o := range p.owners {
			if k, ok := o.(string); ok && depends(k) {
				p.owners = maps.Clone(p.owners)
				delete(p.owners, o)
				w.s.pointers[v] = p
			}
		}
	}
	maps.DeleteFunc(w.s.removable, func(k string, _ bool) bool { return depends(k) })
	maps.DeleteFunc(w.s.stored, func(k string, _ storedPointer) bool { return depends(k) })
}

// key names what an expression denotes if it is a variable or a field of one: "h/1234", "x/99.h". It
// is "" for others.
func (w *walk) key(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v := w.variable(e); v != nil {
			return fmt.Sprintf("%s/%d", v.Name(), v.Pos())
		}
	case *ast.SelectorExpr:
		if k := w.key(e.X); k != "" {
			return k + "." + e.Sel.Name
		}
	}
	return ""
}

// returns runs a return statement. The graph has one at the end of each function.
func (w *walk) returns(n *ast.ReturnStmt) {
	if w.reporting && w.sig.Results().Len() > 0 {
		w.opened = append(w.opened, w.result(n))
	}
	for _, e := range n.Results {
		w.expr(e, false)
	}
	for _, e := range n.Results {
		if p := w.source(e); p != nil {
			w.returned(e.Pos(), p)
		}
	}
	if len(n.Results) == 0 {
		for v := range w.sig.Results().Variables() {
			w.use(n.Pos(), v)
			if p, ok := w.s.pointers[v]; ok {
				w.returned(n.Pos(), &p)
			}
			w.s.set(v, func(r *resource) { r.handed = true })
		}
	}
	w.leaves()
	if w.reporting {
		w.exits = append(w.exits, w.s.clone())
	}
	for v, r := range w.s.resources {
		switch {
		case w.isMain(): // the program ends, and all that is open with it
			w.told[r.opened] = true
		case r.opened.IsValid() && !r.deferred && !r.handed && !r.param:
			w.unended(v, r)
		}
	}
}

// isMain reports whether the function is that of a program.
func (w *walk) isMain() bool {
	d, ok := w.node.(*ast.FuncDecl)
	return ok && d.Recv == nil && d.Name.Name == "main" && w.pass.Pkg.Name() == "main"
}

// A result is what a return statement returns first. It is known if the function has opened it, or if
// it is none.
type result struct {
	kind  *api.Resource // nil for none
	known bool
}

// result returns what a return statement returns first.
func (w *walk) result(n *ast.ReturnStmt) result {
	var v *types.Var
	if len(n.Results) == 0 {
		v = w.sig.Results().At(0)
	} else {
		e := n.Results[0]
		if kind := w.opens(e); kind != nil {
			return result{kind, true}
		}
		if lit, ok := ast.Unparen(e).(*ast.CompositeLit); ok && len(lit.Elts) == 0 || w.isNil(e) {
			return result{nil, true}
		}
		v = w.variable(e)
	}
	r, ok := w.s.resources[v]
	if !ok {
		return result{}
	}
	return result{r.kind, r.opened.IsValid() && !r.deferred && !r.param}
}
