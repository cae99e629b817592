package flow

// This file sums up functions that return a resource or have one as a parameter. So an end that is
// missing is found although others are helpers away.

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"coatcheck/pool/coatvet/internal/api"
)

// Helper says what a function does with resources. It is a fact of the function, unless it is zero. A
// set of parameters has a bit for each of the first 64.
type Helper struct {
	Opens   bool   // its first result is a resource that it has opened, and the caller ends
	Passes  bool   // its first result is its first parameter, as of must(v, err)
	Ends    uint64 // parameters that it ends on each path
	Borrows uint64 // parameters that it uses, and neither ends nor keeps
}

// AFact marks a Helper as a fact.
func (*Helper) AFact() {}

// String is for tests: "opens", "ends 0, borrows 2".
func (h *Helper) String() string {
	var words []string
	if h.Opens {
		words = append(words, "opens")
	}
	if h.Passes {
		words = append(words, "passes")
	}
	for i := range 64 {
		if h.ends(i) {
			words = append(words, fmt.Sprint("ends ", i))
		}
		if h.borrows(i) {
			words = append(words, fmt.Sprint("borrows ", i))
		}
	}
	return strings.Join(words, ", ")
}

func (h Helper) ends(param int) bool    { return param < 64 && h.Ends>>param&1 != 0 }
func (h Helper) borrows(param int) bool { return param < 64 && h.Borrows>>param&1 != 0 }

// lookers are packages whose functions look at what they get, and keep nothing.
var lookers = []string{"fmt", "log", "log/slog", "github.com/stretchr/testify/assert", "github.com/stretchr/testify/require"}

// helper sums up what a call calls. The zero Helper is that of a function of which nothing is known.
func (p *program) helper(call *ast.CallExpr) (h Helper) {
	if f := p.callee(call); f != nil {
		if !p.concerned(f) {
			return Helper{}
		}
		p.analyze(f) // a function that calls itself has no summary meanwhile
		return f.summary
	}
	fn, name := api.Function(p.info, call)
	switch {
	case fn == nil:
		if b, ok := typeutil.Callee(p.info, call).(*types.Builtin); ok && b.Name() != "append" {
			h.Borrows = ^h.Borrows
		}
	case looks(fn), name == "runtime.KeepAlive", name == "weak.Make":
		h.Borrows = ^h.Borrows
	default:
		p.pass.ImportObjectFact(fn, &h)
	}
	return h
}

// looks reports whether a function only looks at its arguments.
func looks(fn *types.Func) bool {
	for _, path := range lookers {
		if fn.Pkg().Path() == path {
			return true
		}
	}
	if fn.Pkg().Path() == "testing" {
		switch fn.Name() {
		case "Log", "Logf", "Error", "Errorf", "Fatal", "Fatalf", "Skip", "Skipf":
			return true
		}
	}
	return false
}

// concerned reports whether a function returns a resource, or has one as a parameter, or may pass one
// on.
func (p *program) concerned(f *function) bool {
	for _, list := range []*types.Tuple{f.sig.Params(), f.sig.Results()} {
		for v := range list.Variables() {
			if api.ResourceOf(v.Type()) != nil {
				return true
			}
		}
	}
	return p.passes(f)
}

// passes reports whether each return of a function returns its first parameter first.
func (p *program) passes(f *function) bool {
	params, results := f.sig.Params(), f.sig.Results()
	if params.Len() == 0 || results.Len() == 0 || f.sig.Variadic() || !types.Identical(params.At(0).Type(), results.At(0).Type()) {
		return false
	}
	returns, otherwise := 0, 0
	ast.Inspect(f.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) > 0 && p.variable(n.Results[0]) == params.At(0) {
				returns++
			} else {
				otherwise++
			}
		}
		return true
	})
	return returns > 0 && otherwise == 0
}

// params puts the resources of the parameters into a state.
func (w *walk) params(s *state) {
	for v := range w.sig.Params().Variables() {
		if kind := api.ResourceOf(v.Type()); kind != nil {
			s.resources[v] = resource{kind: kind, opened: v.Pos(), param: true, handed: w.captured[v]}
		}
	}
}

// summarize sums up the function from the states at its returns.
func (w *walk) summarize() {
	if !w.concerned(w.function) {
		return
	}
	h := &w.summary
	h.Opens, h.Passes = w.opener(), w.passes(w.function)
	for i := range min(w.sig.Params().Len(), 64) {
		v := w.sig.Params().At(i)
		if api.ResourceOf(v.Type()) == nil {
			continue
		}
		if !w.reach.ends(v) {
			h.Borrows |= 1 << i
			continue
		}
		ends := len(w.exits) > 0
		for _, s := range w.exits {
			r := s.resources[v]
			ends = ends && (r.deferred || !r.opened.IsValid())
		}
		if ends {
			h.Ends |= 1 << i
		}
	}
	if d, ok := w.node.(*ast.FuncDecl); ok && *h != (Helper{}) {
		fact := *h
		w.pass.ExportObjectFact(w.info.Defs[d.Name].(*types.Func), &fact)
	}
}

// opener reports whether each return returns a resource that the function has opened, or nil.
func (w *walk) opener() bool {
	results := w.sig.Results()
	if results.Len() == 0 || api.ResourceOf(results.At(0).Type()) == nil || len(w.opened) == 0 {
		return false
	}
	opens := false
	for _, r := range w.opened {
		if !r.known {
			return false
		}
		opens = opens || r.kind != nil
	}
	return opens
}
