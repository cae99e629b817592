package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/packages"

	"coatcheck/pool/coatvet/internal/api"
)

// An ending ends a resource. It is deleted in the syntax tree: what is left keeps its types, so nothing
// need be read or checked anew.
type ending struct {
	resource string
	at       token.Position
	text     string // the call
	function string
	refused  bool // without it the program does not compile, since nothing else uses the variable
	delete   func()
	restore  func()
}

// double lists endings by which tests end something twice, on purpose, and those of tree.Readers
// that pin nothing. To delete one of them is no mistake.
var double = []string{
	"TestGuardMisusePanics: g.Unpin", "TestGuardMisusePanics: unpinned.Unpin()",
	"TestReaderMisusePanics: phase.Unpin()", "TestReaderMisusePanics: pinned.Unpin()", "TestReaderMisusePanics: r.Unpin",
	"TestRefMisusePanics: r.Release()", "TestReservationSettlesOnce: r.Commit()",
	"TestReservationSettlesOnceUnderContention: r.Commit()",
	"TestTraceGuardsNamesWhoForgot: k.Release", "TestTraceGuardsNamesWhoForgot: k.Release()",
	"TestPhaseNeitherPinsNorHolds: r.Unpin()", "TestRootsOfReaders: phase.Unpin()",
}

// endings returns those of a package in the order of its files.
func endings(pkg *packages.Package) (all []*ending) {
	info := pkg.TypesInfo
	uses := map[types.Object]int{}
	for _, o := range info.Uses {
		uses[o]++
	}
	for _, file := range pkg.Syntax {
		var function string
		note := func(r *api.Resource, e ast.Expr, remove func() (restore func())) {
			x := &ending{resource: r.Name, at: pkg.Fset.Position(e.Pos()), text: types.ExprString(e), function: function}
			if call, ok := e.(*ast.CallExpr); ok {
				e = call.Fun
			}
			if recv, _, _ := api.Method(info, e); recv != nil {
				v := api.Variable(info, recv)
				x.refused = v != nil && uses[v] == 1
			}
			x.delete = func() { x.restore = remove() }
			if !slices.Contains(double, x.function+": "+x.text) {
				all = append(all, x)
			}
		}
		astutil.Apply(file, func(c *astutil.Cursor) bool {
			switch n := c.Node().(type) {
			case *ast.FuncDecl:
				function = n.Name.Name
			case *ast.BlockStmt:
				noteStatements(info, n.List, note)
			case *ast.CaseClause:
				noteStatements(info, n.Body, note)
			case *ast.CommClause:
				noteStatements(info, n.Body, note)
			case *ast.CallExpr:
				if call := api.CallOf(info, n); call.Name == "Commit" && call.Ends() != nil {
					if _, alone := c.Parent().(*ast.ExprStmt); alone {
						break
					}
					if _, deferred := c.Parent().(*ast.DeferStmt); deferred {
						break
					}
					sel := n.Fun.(*ast.SelectorExpr)
					note(call.Ends(), n, func() func() { return toHandle(pkg, sel) })
				}
			}
			return true
		}, nil)
	}
	return all
}

// noteStatements notes the endings among statements.
func noteStatements(info *types.Info, list []ast.Stmt, note func(*api.Resource, ast.Expr, func() func())) {
	for i, s := range list {
		remove := func() func() {
			list[i] = &ast.EmptyStmt{Semicolon: s.Pos()}
			if call := receiver(s); call != nil {
				list[i] = &ast.ExprStmt{X: call} // of must(p.Hold(h)).Release()
			}
			return func() { list[i] = s }
		}
		var call *ast.CallExpr
		switch s := s.(type) {
		case *ast.ExprStmt:
			call, _ = s.X.(*ast.CallExpr)
		case *ast.DeferStmt:
			call = s.Call
		}
		if call == nil {
			continue
		}
		if r := api.CallOf(info, call).Ends(); r != nil {
			note(r, call, remove)
		}
		for _, a := range call.Args { // t.Cleanup(g.Unpin)
			if recv, typ, name := api.Method(info, a); recv != nil && api.Ends(typ, name) != nil {
				note(api.Ends(typ, name), a, remove)
			}
		}
	}
}

// receiver returns the call whose result a statement calls a method of, or nil.
func receiver(s ast.Stmt) *ast.CallExpr {
	if s, ok := s.(*ast.ExprStmt); ok {
		if sel, ok := s.X.(*ast.CallExpr).Fun.(*ast.SelectorExpr); ok {
			call, _ := sel.X.(*ast.CallExpr)
			return call
		}
	}
	return nil
}

// toHandle makes r.Handle of r.Commit.
func toHandle(pkg *packages.Package, sel *ast.SelectorExpr) (restore func()) {
	info, id := pkg.TypesInfo, sel.Sel
	was := info.Selections[sel]
	handle := types.NewMethodSet(was.Recv()).Lookup(was.Obj().Pkg(), "Handle")
	sel.Sel = &ast.Ident{NamePos: id.NamePos, Name: "Handle"}
	info.Selections[sel], info.Uses[sel.Sel] = handle, handle.Obj()
	return func() {
		delete(info.Uses, sel.Sel)
		sel.Sel, info.Selections[sel] = id, was
	}
}
