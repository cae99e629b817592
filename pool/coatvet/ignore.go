package coatvet

// This file has the comments that keep a line from being reported.

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// directive begins such a comment. What follows is the reason.
const directive = "//coatvet:ignore"

// coatignore reports those without a reason.
var coatignore = &analysis.Analyzer{
	Name: "coatignore",
	Doc:  "report a comment //coatvet:ignore without a reason",
	Run: func(pass *analysis.Pass) (any, error) {
		directives(pass, func(c *ast.Comment, reason string) {
			if reason == "" {
				pass.Reportf(c.Pos(), "coatignore: %s has no reason: write %[1]s and why the code is right", directive)
			}
		})
		return nil, nil
	},
}

// directives calls do for each such comment.
func directives(pass *analysis.Pass, do func(c *ast.Comment, reason string)) {
	for _, file := range pass.Files {
		for _, group := range file.Comments {
			for _, c := range group.List {
				if reason, found := strings.CutPrefix(c.Text, directive); found && (reason == "" || reason[0] == ' ' || reason[0] == '\t') {
					// In testdata an expectation may follow.
					reason, _, _ = strings.Cut(reason, "// want")
					do(c, strings.TrimSpace(reason))
				}
			}
		}
	}
}

// A reporter reports, but for lines with such a comment, or below one.
type reporter struct {
	pass    *analysis.Pass
	ignored map[string]bool // as "file:line"
}

func newReporter(pass *analysis.Pass) *reporter {
	r := &reporter{pass, map[string]bool{}}
	directives(pass, func(c *ast.Comment, _ string) {
		p := pass.Fset.Position(c.Pos())
		r.ignored[fmt.Sprint(p.Filename, ":", p.Line)] = true
		r.ignored[fmt.Sprint(p.Filename, ":", p.Line+1)] = true
	})
	return r
}

// report reports what is wrong at a place, and the cure, behind the name of the check.
func (r *reporter) report(pos token.Pos, format string, args ...any) {
	p := r.pass.Fset.Position(pos)
	if !r.ignored[fmt.Sprint(p.Filename, ":", p.Line)] {
		r.pass.Reportf(pos, "%s: %s", r.pass.Analyzer.Name, fmt.Sprintf(format, args...))
	}
}
