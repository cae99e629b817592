package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
)

// span is a part of a source file.
type span struct{ from, to token.Pos }

// cut returns the source without the functions and variables of those names, and without
// the imports that only they used. Each must be declared once, in a declaration of its
// own.
func cut(source []byte, names ...string) ([]byte, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var out []span
	var kept []ast.Decl
	missing := slices.Clone(names)
	for _, d := range file.Decls {
		name, doc := declared(d)
		at := slices.Index(missing, name)
		if at < 0 {
			kept = append(kept, d)
			continue
		}
		missing = slices.Delete(missing, at, at+1)
		from := d.Pos()
		if doc != nil {
			from = doc.Pos()
		}
		out = append(out, span{from, d.End()})
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("no declaration of %q by itself: is it another version?", missing)
	}
	for _, s := range file.Imports {
		if path, _ := strconv.Unquote(s.Path.Value); path != "C" && s.Name == nil && !uses(kept, path) {
			out = append(out, span{s.Pos(), s.End()})
		}
	}
	slices.SortFunc(out, func(a, b span) int { return int(b.from - a.from) })
	for _, s := range out {
		source = slices.Delete(slices.Clone(source), files.Position(s.from).Offset, files.Position(s.to).Offset)
	}
	return source, nil
}

// declared returns the name of the one function or variable that d declares, and its
// comment.
func declared(d ast.Decl) (string, *ast.CommentGroup) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name, d.Doc
		}
	case *ast.GenDecl:
		if d.Tok == token.VAR && len(d.Specs) == 1 {
			if s := d.Specs[0].(*ast.ValueSpec); len(s.Names) == 1 {
				return s.Names[0].Name, d.Doc
			}
		}
	}
	return "", nil
}

// uses reports whether the declarations mention a package whose name is its path.
func uses(decls []ast.Decl, path string) (found bool) {
	for _, d := range decls {
		ast.Inspect(d, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == path {
					found = true
				}
			}
			return !found
		})
	}
	return found
}
