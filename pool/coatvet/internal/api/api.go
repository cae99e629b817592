// Package api says what the checks know of coatcheck/pool: its types, which calls open something
// that must be ended, and which calls end it. A check asks with the syntax of a program and the
// types of that syntax. TestNamesExist compares these names with the package itself. syntax.go has
// questions that both kinds of checks ask.
package api

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// path is the import path of the package, under which a clone may have another module path.
const path = "coatcheck/pool"

// A Resource is a type whose values must be ended.
type Resource struct {
	Name   string              // of the type, as in messages
	Opened map[string][]string // methods that return an open one, by receiver
	Ends   []string            // its methods that end it: it needs one of these calls
	After  []string            // its methods that may be called after its end
	Pins   bool                // whether it delays the reuse of all slots while it is open
}

// Resources are all such types.
var Resources = []*Resource{
	{Name: "Guard", Opened: map[string][]string{"Pool": {"Pin"}}, Ends: []string{"Unpin"}, Pins: true},
	{Name: "tree.Reader", Opened: map[string][]string{"tree.Forest": {"Pin"}}, Ends: []string{"Unpin"}, Pins: true},
	{Name: "Ref", Opened: map[string][]string{"Pool": {"Hold"}}, Ends: []string{"Release"}, After: []string{"Handle"}},
	{Name: "Reservation", Opened: map[string][]string{"Pool": {"Reserve", "ReserveWait"}}, Ends: []string{"Commit", "Cancel"}, After: []string{"Handle"}},
}

// Missing names the calls that would end the resource, each behind a prefix: "g.Unpin()".
func (r *Resource) Missing(prefix string) string {
	calls := make([]string, len(r.Ends))
	for i, name := range r.Ends {
		calls[i] = prefix + name + "()"
	}
	return strings.Join(calls, " or ")
}

// ResourceOf returns the resource that a value of type t is, or points to, and nil for other types.
func ResourceOf(t types.Type) *Resource {
	name, _ := TypeOf(t)
	for _, r := range Resources {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// Uses reports whether a package is coatcheck/pool, or imports it or a package below it.
func Uses(pkg *types.Package) bool {
	if _, found := inside(pkg.Path()); found {
		return true
	}
	return slices.ContainsFunc(pkg.Imports(), func(p *types.Package) bool {
		_, found := inside(p.Path())
		return found
	})
}

// inside returns the prefix of the names of a package's types: "" for coatcheck/pool, "tree." for
// coatcheck/pool/tree. It reports whether the package is one of these.
func inside(importPath string) (prefix string, found bool) {
	importPath, _, _ = strings.Cut(importPath, " [") // a package with its tests
	switch importPath {
	case path:
		return "", true
	case path + "/tree":
		return "tree.", true
	}
	return "", false
}

// TypeOf returns the name of t, such as "Pool" or "tree.Reader", if it is a type of coatcheck/pool,
// or a pointer to one. elem is its type argument.
func TypeOf(t types.Type) (name string, elem types.Type) {
	if t == nil {
		return "", nil
	}
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, ok := t.(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return "", nil
	}
	prefix, found := inside(n.Obj().Pkg().Path())
	if !found {
		return "", nil
	}
	if n.TypeArgs().Len() > 0 {
		elem = n.TypeArgs().At(0)
	}
	return prefix + n.Obj().Name(), elem
}

// A Call is a call of a method of coatcheck/pool. The zero Call is none.
type Call struct {
	Type, Name string   // such as Pool, Pin
	Recv       ast.Expr // the receiver
	Elem       types.Type
	*ast.CallExpr
}

// CallOf returns which method of coatcheck/pool an expression calls.
func CallOf(info *types.Info, e ast.Expr) (c Call) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return Call{}
	}
	recv, typ, name := Method(info, call.Fun)
	if recv == nil {
		return Call{}
	}
	c = Call{Type: typ, Name: name, Recv: recv, CallExpr: call}
	if t, elem := TypeOf(info.TypeOf(recv)); t == typ {
		c.Elem = elem
	}
	return c
}

// Method returns the receiver, its type and the method's name if e selects a method of
// coatcheck/pool, as in g.Unpin.
func Method(info *types.Info, e ast.Expr) (recv ast.Expr, typ, name string) {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return nil, "", ""
	}
	s := info.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal || !s.Obj().Exported() {
		return nil, "", ""
	}
	sig, ok := s.Obj().Type().(*types.Signature)
	if !ok || sig.Recv() == nil {
		return nil, "", ""
	}
	if typ, _ = TypeOf(sig.Recv().Type()); typ == "" {
		return nil, "", ""
	}
	return sel.X, typ, s.Obj().Name()
}

// Is reports whether the call is one of these methods of a type.
func (c Call) Is(typ string, names ...string) bool {
	return c.Type == typ && slices.Contains(names, c.Name)
}

// Pinning reports whether the call returns an iterator that pins the pool as long as a loop over it runs.
func (c Call) Pinning() bool {
	return c.Is("Pool", "All") ||
		c.Is("tree.Forest", "Children", "Descendants", "PostOrder", "Ancestors", "Roots")
}

// Opens returns the resource that the call opens, or nil. It is the first result of the call.
func (c Call) Opens() *Resource {
	for _, r := range Resources {
		if slices.Contains(r.Opened[c.Type], c.Name) {
			return r
		}
	}
	return nil
}

// InterfaceOpens returns the resource that the call of an interface's method opens, or nil. It opens
// what a method of a pool with the same name opens, if that is what it returns.
func InterfaceOpens(info *types.Info, call *ast.CallExpr) *Resource {
	fn, _ := Function(info, call)
	if fn == nil || fn.Signature().Recv() == nil || !types.IsInterface(fn.Signature().Recv().Type()) {
		return nil
	}
	r := ResourceOf(First(info.TypeOf(call)))
	if r == nil || !slices.Contains(r.Opened["Pool"], fn.Name()) {
		return nil
	}
	return r
}

// Ends returns the resource that its method of that name ends, or nil.
func Ends(typ, name string) *Resource {
	for _, r := range Resources {
		if r.Name == typ && slices.Contains(r.Ends, name) {
			return r
		}
	}
	return nil
}

// Ends returns the resource that the call ends, or nil. It is the receiver of the call.
func (c Call) Ends() *Resource { return Ends(c.Type, c.Name) }

// IsPool reports whether a package is coatcheck/pool.
func IsPool(pkg *types.Package) bool {
	prefix, found := inside(pkg.Path())
	return found && prefix == ""
}
