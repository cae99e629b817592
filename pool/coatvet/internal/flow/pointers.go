package flow

// This file is about pointers into a pool: where they come from, and what may not be done with them.

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"

	"coatcheck/pool/coatvet/internal/api"
)

func owned(o owner) *pointer { return &pointer{owners: map[owner]bool{o: true}} }

// source returns what the value of an expression depends on, or nil if it is no pointer into a pool.
func (w *walk) source(e ast.Expr) *pointer {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v := w.variable(e); v != nil {
			if p, ok := w.s.pointers[v]; ok {
				return &p
			}
		}
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return w.inSlot(e.X)
		}
	case *ast.SliceExpr:
		if t := w.info.TypeOf(e.X); t != nil {
			if _, ok := t.Underlying().(*types.Array); ok {
				return w.inSlot(e.X)
			}
		}
	case *ast.CallExpr:
		c := api.CallOf(w.info, e)
		switch {
		case c.Is("Pool", "Pointer"):
			if key := w.key(c.Args[0]); key != "" {
				return owned(key)
			}
			return &pointer{owners: map[owner]bool{}}
		case c.Name == "Pointer":
			if v := w.variable(c.Recv); v != nil {
				return owned(v)
			}
		case api.IsAppend(w.info, e.Fun):
			var sum *pointer
			for _, a := range e.Args {
				if p := w.source(a); p != nil && sum == nil {
					sum = &pointer{maps.Clone(p.owners), p.dead}
				} else if p != nil {
					*sum = sum.join(*p)
				}
			}
			return sum
		}
	}
	return nil
}

// inSlot returns the pointer in whose value a variable lies: that of v for v.f.g, v.a[i] and (*v).f.
func (w *walk) inSlot(e ast.Expr) *pointer {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			s := w.info.Selections[x]
			if s == nil || s.Kind() != types.FieldVal {
				return nil
			}
			if api.IsPointer(w.info.TypeOf(x.X)) {
				return w.source(x.X)
			}
			e = x.X
		case *ast.IndexExpr:
			t := w.info.TypeOf(x.X)
			if t == nil {
				return nil
			}
			if _, ok := t.Underlying().(*types.Array); !ok {
				return nil
			}
			e = x.X
		case *ast.StarExpr:
			return w.source(x.X)
		default:
			return nil
		}
	}
}

// use reports the use of a pointer whose protection has ended.
func (w *walk) use(pos token.Pos, v *types.Var) {
	if p, ok := w.s.pointers[v]; ok && p.dead != "" {
		w.report(Stale, pos, "%s points into the pool, and is used %s: use it before, or copy the value", v.Name(), p.dead)
	}
}

// kill ends the protection by o.
func (w *walk) kill(o owner, since string) {
	for v, p := range w.s.pointers {
		if p.owners[o] {
			w.s.pointers[v] = pointer{p.owners, since}
		}
	}
	for key, x := range w.s.stored {
		if x.owner == o {
			x.dead = true
			w.s.stored[key] = x
		}
	}
}

// stores notes a pointer that is put where it outlives the function: a global variable, or a field or
// an element of something from outside.
func (w *walk) stores(lhs ast.Expr, p *pointer) {
	v := api.Root(w.info, lhs)
	if v == nil {
		return
	}
	global := v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
	if _, direct := ast.Unparen(lhs).(*ast.Ident); direct && !global || api.Within(v, w.body) {
		return // followed as a variable, or the function's own
	}
	key := w.key(lhs)
	if key == "" {
		key = fmt.Sprintf("element/%d", lhs.Pos())
	}
	for o := range p.owners {
		if _, byHandle := o.(string); !byHandle {
			w.s.stored[key] = storedPointer{owner: o, pos: lhs.Pos()}
		}
	}
}

// ending says what ends an owner when the function returns: "" if nothing does.
func (w *walk) ending(o owner) string {
	switch o := o.(type) {
	case *ast.RangeStmt:
		if w.s.loops[o] {
			return w.loop(o)
		}
	case *types.Var:
		if w.s.resources[o].deferred {
			return fmt.Sprintf("the deferred end of %s", o.Name())
		}
	}
	return ""
}

// leaves reports the pointers that stay where they outlive the function, when it returns.
func (w *walk) leaves() {
	for _, x := range w.s.stored {
		if x.dead || w.ending(x.owner) != "" {
			w.report(Stale, x.pos, "a pointer into the pool stays here when the function returns, and nothing protects it any more: keep the handle instead")
		}
	}
}

// returned reports a pointer that is returned although its protection ends with the function.
func (w *walk) returned(pos token.Pos, p *pointer) {
	if p.dead != "" {
		return // reported as a use
	}
	for o := range p.owners {
		if end := w.ending(o); end != "" {
			w.report(Stale, pos, "a pointer into the pool is returned, but %s ends its protection: return a copy or the handle", end)
		}
	}
}
