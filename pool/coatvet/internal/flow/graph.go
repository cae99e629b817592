package flow

// This file goes over the control-flow graph of a function.

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

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

// A survey is what is known of a function before the analysis.
type survey struct {
	silent   map[ast.Node]bool       // communications that do not block, since a select has others
	targets  map[ast.Node]bool       // keys and values of range statements, which the graph has as nodes
	channels map[ast.Expr]bool       // what ranges over channels evaluate
	captured map[*types.Var]bool     // variables that a literal ends, or hands on: they are not followed
	lent     map[*ast.UnaryExpr]bool // &g as an argument of a call: the callee ends g only if it is known to
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
	in := map[*cfg.Block]*state{f.graph.Blocks[0]: start}
	work := []*cfg.Block{f.graph.Blocks[0]}
	// Joins only add, so this ends. The limit is for functions that some program has written.
	for rounds := 0; len(work) > 0 && rounds < 100*len(f.graph.Blocks); rounds++ {
		b := work[0]
		work = work[1:]
		w.block(b, in[b].clone(), func(next *cfg.Block, s *state) {
			if in[next] == nil {
				in[next] = s.clone()
			} else if !in[next].join(s) {
				return
			}
			work = append(work, next)
		})
	}
	w.reporting = true
	for _, b := range f.graph.Blocks {
		if in[b] != nil {
			w.block(b, in[b].clone(), func(*cfg.Block, *state) {})
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

// block runs the nodes of a block, and hands the states behind it to those that follow.
func (w *walk) block(b *cfg.Block, s *state, to func(*cfg.Block, *state)) {
	w.s = s
	if loop, ok := b.Stmt.(*ast.RangeStmt); ok {
		switch b.Kind {
		case cfg.KindRangeBody:
			w.iterate(loop)
		case cfg.KindRangeDone:
			delete(s.loops, loop)
			w.kill(loop, fmt.Sprintf("after the loop of line %d over All", w.line(loop.Pos())))
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
		to(next, t)
	}
}

// refine forgets a resource where a condition tells that there is none: where ok is false, err is not
// nil, or it is nil itself.
func (w *walk) refine(s *state, cond ast.Expr, truth bool) {
	var v *types.Var
	absent := false
	switch c := ast.Unparen(cond).(type) {
	case *ast.Ident:
		v, absent = w.variable(c), !truth
	case *ast.UnaryExpr:
		if c.Op == token.NOT {
			w.refine(s, c.X, !truth)
		}
	case *ast.BinaryExpr:
		switch {
		case c.Op == token.LAND && truth, c.Op == token.LOR && !truth:
			w.refine(s, c.X, truth)
			w.refine(s, c.Y, truth)
		case (c.Op == token.EQL || c.Op == token.NEQ) && w.isNil(c.Y):
			v = w.variable(c.X)
			isNil := (c.Op == token.EQL) == truth
			_, itself := s.resources[v]
			absent = itself == isNil
		}
	}
	if v == nil || !absent {
		return
	}
	for held, r := range s.resources {
		if held == v || r.ok == v {
			delete(s.resources, held)
		}
	}
}

// iterate begins an iteration of a range statement.
func (w *walk) iterate(loop *ast.RangeStmt) {
	var p *pointer
	c := api.CallOf(w.info, loop.X)
	switch {
	case c.Is("Pool", "All"):
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

// private reports whether a loop is over a pool that only this function has, and that it does not use
// later. So nobody removes its values.
func (w *walk) private(loop *ast.RangeStmt, pool ast.Expr) bool {
	v := w.variable(pool)
	if v == nil || !within(v, w.body) {
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

// look makes the survey.
func (w *walk) look() {
	w.survey = survey{map[ast.Node]bool{}, map[ast.Node]bool{}, map[ast.Expr]bool{}, map[*types.Var]bool{}, map[*ast.UnaryExpr]bool{}}
	ast.Inspect(w.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			for _, a := range n.Args {
				if u, ok := ast.Unparen(a).(*ast.UnaryExpr); ok && u.Op == token.AND && api.ResourceOf(w.info.TypeOf(u.X)) != nil {
					w.lent[u] = true
				}
			}
		case *ast.RangeStmt:
			if n.Key != nil {
				w.targets[n.Key] = true
			}
			if n.Value != nil {
				w.targets[n.Value] = true
			}
			if t := w.info.TypeOf(n.X); t != nil {
				_, ok := t.Underlying().(*types.Chan)
				w.channels[n.X] = ok
			}
		case *ast.SelectStmt:
			// A select waits in its first case, and with a default it does not wait.
			first := true
			for _, c := range n.Body.List {
				first = first && c.(*ast.CommClause).Comm != nil
			}
			for _, c := range n.Body.List {
				if comm := c.(*ast.CommClause).Comm; comm != nil {
					w.silent[comm] = !first
					first = false
				}
			}
		}
		return true
	})
	ast.Inspect(w.body, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if ok {
			w.captures(lit, func(v *types.Var, harmless bool) {
				if !harmless && api.ResourceOf(v.Type()) != nil {
					w.captured[v] = true
				}
			})
		}
		return !ok
	})
	w.correlated()
}

// correlated leaves out a variable that "if x" opens and another "if x" ends: the state does not know
// that both conditions are the same.
func (w *walk) correlated() {
	opened, ended := map[*types.Var]string{}, map[*types.Var]string{}
	ast.Inspect(w.body, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		if !ok {
			return true
		}
		cond := types.ExprString(s.Cond)
		ast.Inspect(s.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if v := w.variable(n.Lhs[0]); v != nil && !within(v, s) && w.opens(n.Rhs[0]) != nil {
					opened[v] = cond
				}
			case *ast.CallExpr:
				if c := api.CallOf(w.info, n); c.Ends() != nil {
					if v := w.variable(c.Recv); v != nil && !within(v, s) {
						ended[v] = cond
					}
				}
			}
			return true
		})
		return true
	})
	for v, cond := range opened {
		if ended[v] == cond {
			w.captured[v] = true
		}
	}
}
