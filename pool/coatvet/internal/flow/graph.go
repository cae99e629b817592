package flow

// This file goes over the control-flow graph of a function.

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"

	"golang.org/x/tools/go/cfg"

	"coatcheck/pool/coatvet/internal/api"
)

// A walk is the analysis of one function.
type walk struct {
	*program
	*function
	s         *state // at the current place
	reporting bool   // the states are known: this is the last time
	survey
	exits  []*state // at the returns, the last time
	opened []result // of the returns, the last time: the first result
}

// analyze finds what is wrong in a function, and sums it up.
func (p *program) analyze(f *function) {
	if f.started {
		return
	}
	f.started = true
	w := &walk{program: p, function: f}
	w.look()
	start := newState()
	w.params(start)
	states := map[*cfg.Block]*state{f.graph.Blocks[0]: start}
	work := []*cfg.Block{f.graph.Blocks[0]}
	// Joins only add, and there is not much to add, so this ends soon. The limit is for the largest
	// functions that programs write.
	for rounds := 0; len(work) > 0 && rounds < 100*len(f.graph.Blocks); rounds++ {
		b := work[0]
		work = work[1:]
		w.block(b, states[b].clone(), func(next *cfg.Block, s *state) {
			if states[next] == nil {
				states[next] = s.clone()
			} else if !states[next].join(s) {
				return
			}
			work = append(work, next)
		})
	}
	w.reporting = true
	for _, b := range f.graph.Blocks {
		if states[b] != nil {
			w.block(b, states[b].clone(), func(*cfg.Block, *state) {})
		}
	}
	w.summarize()
}

// report notes a finding the last time, when all is known that leads to a place.
func (w *walk) report(check Check, pos token.Pos, format string, args ...any) {
	if w.reporting {
		w.program.report(check, pos, format, args...)
	}
}

// block runs the nodes of a block, and passes the states behind it to those that follow.
func (w *walk) block(b *cfg.Block, s *state, pass func(*cfg.Block, *state)) {
	w.s = s
	if loop, ok := b.Stmt.(*ast.RangeStmt); ok {
		switch b.Kind {
		case cfg.KindRangeBody:
			w.iterate(loop)
		case cfg.KindRangeDone:
			delete(s.loops, loop)
			w.kill(loop, "after "+w.loop(loop))
		}
	}
	for _, n := range b.Nodes {
		if !w.targets[n] {
			w.statement(n)
		}
	}
	var cond ast.Expr
	if len(b.Succs) == 2 && b.Kind != cfg.KindRangeLoop && len(b.Nodes) > 0 {
		cond, _ = b.Nodes[len(b.Nodes)-1].(ast.Expr)
	}
	for i, next := range b.Succs {
		t := w.s
		if cond != nil {
			t = w.s.clone()
			w.refine(t, cond, i == 0)
		}
		pass(next, t)
	}
}

// refine forgets a resource where a condition tells that there is none: where ok is false, err is not
// nil, or it is nil itself.
func (w *walk) refine(s *state, cond ast.Expr, truth bool) {
	switch c := ast.Unparen(cond).(type) {
	case *ast.Ident:
		if !truth {
			w.forget(s, c)
		}
	case *ast.UnaryExpr:
		if c.Op == token.NOT {
			w.refine(s, c.X, !truth)
		}
	case *ast.BinaryExpr:
		switch c.Op {
		case token.LAND, token.LOR:
			if (c.Op == token.LAND) == truth {
				w.refine(s, c.X, truth)
				w.refine(s, c.Y, truth)
			}
		case token.EQL, token.NEQ:
			w.compare(s, c, (c.Op == token.EQL) == truth)
		}
	case *ast.CallExpr:
		// errors.Is(err, pool.ErrFull) tells only if it is true, and what others tell is not known.
		_, name := api.Function(w.info, c)
		for _, a := range c.Args {
			if truth || name != "errors.Is" && name != "errors.As" {
				w.forget(s, a)
			}
		}
	}
}

// compare is refine where two values are equal, or are not.
func (w *walk) compare(s *state, c *ast.BinaryExpr, equal bool) {
	x, y := c.X, c.Y
	if w.info.Types[x].Value != nil || w.isNil(x) {
		x, y = y, x
	}
	v := w.variable(x)
	switch value := w.info.Types[y].Value; {
	case value != nil && value.Kind() == constant.Bool: // ok == false
		w.refine(s, x, constant.BoolVal(value) == equal)
	case !w.isNil(y): // err == pool.ErrFull
		if equal && v != nil && s.resources[v].kind == nil {
			w.forget(s, x)
		}
	case s.resources[v].kind != nil == equal: // r == nil, err != nil
		w.forget(s, x)
	}
}

// forget forgets the resource in a variable, or the one of which the variable tells that there is none.
func (w *walk) forget(s *state, e ast.Expr) {
	v := w.variable(e)
	for held, r := range s.resources {
		if v != nil && (held == v || r.ok == v) {
			delete(s.resources, held)
		}
	}
}

// iterate begins an iteration of a range statement.
func (w *walk) iterate(loop *ast.RangeStmt) {
	var p *pointer
	c := api.CallOf(w.info, loop.X)
	switch {
	case c.Pinning():
		w.s.loops[loop] = true
		if !w.private(loop, c.Recv) {
			p = owned(loop)
		}
	case c.Is("Guard", "All"), c.Type == "tree.Reader":
		if g := w.variable(c.Recv); g != nil {
			p = owned(g)
		}
	case c.Type == "":
		p = w.source(loop.X) // a slice of pointers
	}
	if loop.Key != nil {
		w.bind(loop.Key, nil)
	}
	if loop.Value != nil {
		w.bind(loop.Value, p)
	}
}

// loop names a loop that pins a pool.
func (w *walk) loop(loop *ast.RangeStmt) string {
	return fmt.Sprintf("the loop of line %d over %s", w.line(loop.Pos()), api.CallOf(w.info, loop.X).Name)
}

// private reports whether a loop is over a pool that only this function has, and that it does not use
// later. So nobody removes its values.
func (w *walk) private(loop *ast.RangeStmt, pool ast.Expr) bool {
	v := w.variable(pool)
	if v == nil || !api.Within(v, w.body) {
		return false
	}
	later := false
	ast.Inspect(w.body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		later = later || ok && w.info.Uses[id] == v && id.Pos() > loop.End()
		return !later
	})
	return !later
}
