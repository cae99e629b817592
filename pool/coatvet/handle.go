package coatvet

// This file has the check coathandle: declarations that cannot work.

import (
	"go/ast"
	"go/types"

	"coatcheck/pool/coatvet/internal/api"
)

// handles reports new types of pool.Handle, which lose its methods, and variables that are a Pool, a
// Worker, a Ref or a Reservation themselves.
func handles(s *source) {
	s.Preorder([]ast.Node{(*ast.TypeSpec)(nil), (*ast.ValueSpec)(nil), (*ast.Field)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if name, _ := api.TypeOf(s.info.TypeOf(n.Type)); name == "Handle" && !n.Assign.IsValid() && !api.IsPointer(s.info.TypeOf(n.Type)) {
				s.report(n.Pos(), "type %s loses the methods of pool.Handle, such as MarshalText and String: use an alias, type %[1]s = ...", n.Name.Name)
			}
		case *ast.ValueSpec:
			s.byValue(n.Names)
		case *ast.Field:
			s.byValue(n.Names)
		}
	})
}

// byValue reports the variables that have a type which only pointers may have.
func (s *source) byValue(names []*ast.Ident) {
	for _, id := range names {
		v, ok := s.info.Defs[id].(*types.Var)
		if !ok || api.IsPointer(v.Type()) {
			continue
		}
		switch name, _ := api.TypeOf(v.Type()); name {
		case "Pool", "Worker", "Ref", "Reservation":
			s.report(id.Pos(), "%s is a %s by value, which panics while it is zero and may not be copied: use a *%[2]s", id.Name, name)
		}
	}
}
