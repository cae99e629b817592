package flow

// This file tells whether anything in the package ever ends a resource, wherever it is kept.

import (
	"cmp"
	"go/ast"
	"go/types"
	"maps"
	"slices"

	"coatcheck/pool/coatvet/internal/api"
)

// A reach is a graph of where the resources of a package may go. A node is a variable, a field (of all
// values of its struct), what a call returns, or what a function returns. An edge leads from a node to
// one that may have its resource later. A slice, a map or a channel is shared with the node that it came
// from: there edges lead both ways. edges.go tells which syntax makes which edges.
//
// The resource of a node leaves if it goes to where nothing more is known of it: to a function of
// another package of which there is no fact, into an interface, out of a function as its result, or
// into what other packages can reach. Then it counts as ended.
type reach struct {
	*program
	edges map[types.Object][]types.Object
	ended map[types.Object]map[string]bool // by which methods
	left  map[types.Object]bool

	calls     map[*ast.CallExpr]types.Object // the node of what a call returns
	functions map[*function]types.Object     // the node of what a function returns
	values    map[types.Object]bool          // functions that are used as values
	through   map[types.Object]bool          // pointers through which a resource is stored
	called    map[ast.Expr]bool              // what is the function of a call
	holds     map[types.Type]bool            // see carries
	closed    bool                           // no other package can use this one: a program, or tests
}

// ends reports whether the resource in a node may be ended.
func (r *reach) ends(o types.Object) bool {
	return r.visit(o, func(o types.Object) bool { return r.left[o] || len(r.ended[o]) > 0 })
}

// endsBy is the same for one method.
func (r *reach) endsBy(o types.Object, method string) bool {
	return r.visit(o, func(o types.Object) bool { return r.left[o] || r.ended[o][method] })
}

// endsElsewhere reports whether the resource in a variable may be ended by other means than the
// variable's methods.
func (r *reach) endsElsewhere(v *types.Var) bool {
	return r.left[v] || slices.ContainsFunc(r.edges[v], r.ends)
}

// visit reports whether found is true of a node, or of one to which its resource may go.
func (r *reach) visit(o types.Object, found func(types.Object) bool) bool {
	seen := map[types.Object]bool{}
	var visit func(o types.Object) bool
	visit = func(o types.Object) bool {
		if seen[o] {
			return false
		}
		seen[o] = true
		return found(o) || slices.ContainsFunc(r.edges[o], visit)
	}
	return visit(o)
}

func newReach(p *program) *reach {
	r := &reach{
		program: p, edges: map[types.Object][]types.Object{}, ended: map[types.Object]map[string]bool{}, left: map[types.Object]bool{},
		calls: map[*ast.CallExpr]types.Object{}, functions: map[*function]types.Object{}, called: map[ast.Expr]bool{},
		values: map[types.Object]bool{}, through: map[types.Object]bool{}, holds: map[types.Type]bool{}, closed: p.pass.Pkg.Name() == "main",
	}
	for _, file := range p.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			r.prepare(n)
			return true
		})
	}
	for _, file := range p.pass.Files {
		ast.PreorderStack(file, nil, func(n ast.Node, stack []ast.Node) bool {
			var fn *function
			for _, outer := range stack {
				fn = cmp.Or(p.functions[outer], fn)
			}
			r.add(n, fn)
			return true
		})
	}
	// *g = p.Pin() opens what g points to, wherever that is.
	for source, targets := range maps.Clone(r.edges) {
		for _, target := range targets {
			if r.through[target] {
				r.edges[target] = append(r.edges[target], source)
			}
		}
	}
	return r
}

// carries reports whether a value of type t may have a resource in it, but for the fields of structs,
// which are nodes of their own. A value of a type parameter may be anything.
func (r *reach) carries(t types.Type) bool {
	if t == nil {
		return false
	}
	t = types.Unalias(t)
	if known, ok := r.holds[t]; ok {
		return known
	}
	if api.ResourceOf(t) != nil {
		return true
	}
	if _, ok := t.(*types.TypeParam); ok {
		return true
	}
	r.holds[t] = false // while it is looked for, for types that contain themselves
	found := false
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		found = r.carries(u.Elem())
	case *types.Slice:
		found = r.carries(u.Elem())
	case *types.Array:
		found = r.carries(u.Elem())
	case *types.Chan:
		found = r.carries(u.Elem())
	case *types.Map:
		found = r.carries(u.Elem()) || r.carries(u.Key())
	case *types.Tuple:
		for v := range u.Variables() {
			found = found || r.carries(v.Type())
		}
	}
	r.holds[t] = found
	return found
}
