package flow

// This file says what calls do to a state.

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"math"
	"slices"

	"coatcheck/pool/coatvet/internal/api"
	"coatcheck/pool/coatvet/internal/options"
)

// call evaluates a call.
func (w *walk) call(call *ast.CallExpr, silent bool) {
	c := api.CallOf(w.info, call)
	if c.Type == "" {
		w.otherCall(call, silent)
		return
	}
	for _, a := range c.Args {
		w.expr(a, silent)
	}
	recv := w.variable(c.Recv)
	if recv == nil || api.ResourceOf(recv.Type()) == nil {
		w.expr(c.Recv, silent)
	}
	switch {
	case recv != nil && api.ResourceOf(recv.Type()) != nil:
		w.method(c, recv)
	case c.Is("Pool", "Remove", "Take"), c.Is("Worker", "Remove", "Take"):
		if key := w.key(c.Args[0]); key != "" && !w.guarded() {
			w.kill(key, fmt.Sprintf("after %s in line %d has removed its value", c.Name, w.line(c.Pos())))
		}
	case c.Is("Pool", "Pointer"):
		if key := w.key(c.Args[0]); w.s.removable[key] && !w.guarded() {
			w.report(Stale, c.Pos(), "a goroutine of this function may remove the value while the pointer of Pool.Pointer is used: use View, a Guard or Hold")
		}
	case c.Is("Pool", "InsertWait", "InsertFuncWait", "ReserveWait", "Synchronize"), c.Is("Worker", "InsertWait"):
		w.blocks(c.Pos(), c.Name, silent)
	case c.Is("Pool", "Get", "MustGet"):
		if pool := options.Object(w.info, c.Recv); w.resets[pool] && !w.guarded() && options.Refers(c.Elem) {
			w.report(Stale, c.Pos(), "the copy by %s refers to memory that Options.Reset keeps for the next value: use View or a Guard", c.Name)
		}
	}
}

// method calls a method of the resource in v.
func (w *walk) method(c api.Call, v *types.Var) {
	r, known := w.s.resources[v]
	if known && r.ended.IsValid() && !r.opened.IsValid() && !r.handed && !slices.Contains(r.kind.After, c.Name) {
		w.report(Stale, c.Pos(), "%s is used after its %s in line %d: end it once, after its last use", v.Name(), r.method, w.line(r.ended))
	}
	if c.Ends() != nil {
		w.end(v, c.Name, c.Pos())
	}
}

// end ends the resource in a variable.
func (w *walk) end(v *types.Var, method string, pos token.Pos) {
	w.s.set(v, func(r *resource) { r.opened, r.ended, r.method = token.NoPos, pos, method })
	w.kill(v, fmt.Sprintf("after %s.%s in line %d", v.Name(), method, w.line(pos)))
}

// otherCall evaluates a call of something that is not of coatcheck/pool.
func (w *walk) otherCall(call *ast.CallExpr, silent bool) {
	fn, name := api.Function(w.info, call)
	if fn != nil && fn.Name() == "Go" && fn.Signature().Recv() != nil && len(call.Args) == 1 { // of a WaitGroup or errgroup
		if lit, ok := ast.Unparen(call.Args[0]).(*ast.FuncLit); ok {
			w.start(lit)
			return
		}
	}
	helper := w.helper(call)
	w.builds(call)
	w.expr(call.Fun, silent)
	for i, a := range call.Args {
		v := w.variable(pointee(a))
		_, known := w.s.resources[v]
		switch {
		case !known:
			w.expr(a, silent)
		case helper.ends(i):
			w.end(v, callName(call), call.Pos())
		case helper.borrows(i):
		default:
			w.expr(a, silent)
		}
	}
	if blocking(w.info, call, fn, name) {
		w.blocks(call.Pos(), name, silent)
	}
	switch name {
	case "runtime.SetFinalizer", "runtime.AddCleanup", "weak.Make":
		if len(call.Args) > 0 && w.source(call.Args[0]) != nil {
			w.report(Stale, call.Pos(), "%s does not work on a value in a pool, which shares its memory with others: use Options.OnRemove or a Pool[*T]", name)
		}
	}
}

// pointee returns x for &x, and others as they are.
func pointee(e ast.Expr) ast.Expr {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		return u.X
	}
	return e
}

// callName returns the last word of what a call calls.
func callName(call *ast.CallExpr) string {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return "a function"
}

// pinnedBy says what pins a pool now, or is "": what has pinned it first.
func (w *walk) pinnedBy() (pinner string) {
	first := token.Pos(math.MaxInt)
	for v, r := range w.s.resources {
		if !r.kind.Pins || !r.opened.IsValid() || r.handed || r.joined || r.opened > first {
			continue
		}
		first, pinner = r.opened, fmt.Sprintf("the %s %s of line %d", r.kind.Name, v.Name(), w.line(r.opened))
		if r.param {
			pinner = v.Name() + " of the caller"
		}
	}
	for loop := range w.s.loops {
		if loop.Pos() < first {
			first, pinner = loop.Pos(), w.loop(loop)
		}
	}
	return cmp.Or(pinner, w.pin)
}

// guarded reports whether a guard or a loop pins a pool, or a Ref may hold a value.
func (w *walk) guarded() bool {
	for _, r := range w.s.resources {
		if r.opened.IsValid() && r.kind.Name != "Reservation" {
			return true
		}
	}
	return len(w.s.loops) > 0 || w.pin != ""
}

// blocks reports what may block while a pool is pinned.
func (w *walk) blocks(pos token.Pos, what string, silent bool) {
	if silent {
		return
	}
	clear(w.s.removable) // the goroutines may have been waited for
	if pinner := w.pinnedBy(); pinner != "" {
		w.report(Block, pos, "%s may block while %s pins the pool, so no removed slot is used again: unpin before, or use Hold", what, pinner)
	}
}

// builds reports a function value that gets the memory of a Reservation, if nothing cancels that when the
// function panics: it is the caller's, which cannot know.
func (w *walk) builds(call *ast.CallExpr) {
	f := w.variable(call.Fun)
	if f == nil || f.IsField() {
		return
	}
	if _, ok := f.Type().Underlying().(*types.Signature); !ok || w.literals[f] != nil {
		return
	}
	for _, a := range call.Args {
		inner, ok := ast.Unparen(a).(*ast.CallExpr)
		if !ok {
			continue
		}
		c := api.CallOf(w.info, inner)
		if c.Type != "Reservation" || c.Name != "Pointer" {
			continue
		}
		if v := w.variable(c.Recv); v != nil {
			if r := w.s.resources[v]; r.opened.IsValid() && !r.deferred && !r.handed && !r.param {
				w.report(Lost, call.Pos(), "the Reservation %s stays open if %s panics: cancel it in a deferred call, or call InsertFunc", v.Name(), f.Name())
			}
		}
	}
}
