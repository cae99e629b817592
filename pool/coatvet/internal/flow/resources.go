package flow

// This file is about the beginning and the end of resources.

import (
	"go/ast"
	"go/token"
	"go/types"

	"coatcheck/pool/coatvet/internal/api"
)

// opens returns the resource that a call opens, as its first result, or nil. The call is one of
// coatcheck/pool, or of a helper.
func (p *program) opens(e ast.Expr) *api.Resource {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return nil
	}
	if c := api.CallOf(p.info, call); c.Type != "" {
		return c.Opens()
	}
	if r := api.InterfaceOpens(p.info, call); r != nil {
		return r
	}
	helper := p.helper(call)
	switch {
	case helper.Passes:
		return p.opens(call.Args[0])
	case helper.Opens:
		return api.ResourceOf(api.First(p.info.TypeOf(call)))
	}
	return nil
}

// opening returns the call that opens the resource which e returns: for must(p.Hold(h)), the inner one.
func (p *program) opening(e ast.Expr) *ast.CallExpr {
	call := ast.Unparen(e).(*ast.CallExpr)
	for api.CallOf(p.info, call).Type == "" && p.helper(call).Passes {
		call = ast.Unparen(call.Args[0]).(*ast.CallExpr)
	}
	return call
}

// acquire assigns the resource that a call opens.
func (w *walk) acquire(kind *api.Resource, call ast.Expr, lhs []ast.Expr) {
	for _, l := range lhs[1:] {
		w.bind(l, nil)
	}
	id, ok := ast.Unparen(lhs[0]).(*ast.Ident)
	if !ok {
		return // a holder: see neverEnded
	}
	if id.Name == "_" {
		w.dropped(id.Pos(), kind, call)
		return
	}
	v := w.variable(id)
	if v == nil {
		return
	}
	followed := api.Within(v, w.body) && !w.captured[v]
	old := w.s.resources[v]
	if followed && old.opened.IsValid() && !old.deferred && !old.handed && !old.param {
		w.unended(v, old)
	}
	w.bind(id, nil)
	r := resource{kind: kind, opened: w.opening(call).Pos(), handed: !followed}
	if !api.IsPointer(v.Type()) {
		r.deferred = old.deferred // the deferred call ends what is in the variable then
	}
	if len(lhs) > 1 {
		r.ok = w.variable(lhs[1])
	}
	w.s.resources[v] = r
}

// dropped reports a resource that nobody gets.
func (w *walk) dropped(pos token.Pos, r *api.Resource, call ast.Expr) {
	if w.reporting {
		w.told[w.opening(call).Pos()] = true
	}
	w.report(Lost, pos, "the %s of %s is dropped, so nothing can end it: keep it, and call %s", r.Name, callName(w.opening(call)), r.Missing("its "))
}

// unended reports a resource that some path does not end.
func (w *walk) unended(v *types.Var, r resource) {
	if w.reporting {
		w.told[r.opened] = true
	}
	w.report(Lost, r.opened, "the %s %s is not ended on each path: call %s, or defer it", r.kind.Name, v.Name(), r.kind.Missing(v.Name()+"."))
}

// neverEnded reports the resources that nothing in the package ends, and the Reservations that nothing
// commits. Tests may cancel all that they reserve.
func (p *program) neverEnded() {
	for call, kept := range p.reach.calls {
		r := p.opens(call)
		if r == nil || p.opening(call) != call || p.told[call.Pos()] {
			continue
		}
		switch {
		case !p.reach.ends(kept):
			p.report(Lost, call.Pos(), "nothing ends this %s, wherever it is kept: call %s", r.Name, r.Missing("its "))
		case r.Name == "Reservation" && !p.reach.endsBy(kept, "Commit") && !api.InTest(p.pass, call.Pos()):
			p.report(Lost, call.Pos(), "nothing commits this Reservation, so its value never becomes live: call its Commit()")
		}
	}
}
