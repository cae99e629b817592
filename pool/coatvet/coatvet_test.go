//go:build !race

package coatvet_test

import (
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/passes/inspect"

	"coatcheck/pool/coatvet"
	"coatcheck/pool/coatvet/internal/flow"
)

// all runs every check in one pass, so that the expectations of a file are those of all checks.
var all = &analysis.Analyzer{
	Name: "all", Doc: "every check", Requires: []*analysis.Analyzer{inspect.Analyzer, flow.Analyzer},
	Run: func(pass *analysis.Pass) (any, error) {
		for _, a := range coatvet.Analyzers {
			p := *pass
			p.Analyzer = a
			if _, err := a.Run(&p); err != nil {
				return nil, err
			}
		}
		return nil, nil
	},
}

// TestChecks: each package of testdata has mistakes, whose lines say what must be told, and code that
// is right. Those of limits are not told.
func TestChecks(t *testing.T) {
	analysistest.Run(t, ".", all, "./testdata/block", "./testdata/copy", "./testdata/errors", "./testdata/handle", "./testdata/helped",
		"./testdata/ignore", "./testdata/limits", "./testdata/lost", "./testdata/shared", "./testdata/stale", "./testdata/view")
}

// TestFacts: functions that return a resource, or have one as a parameter, are summed up.
func TestFacts(t *testing.T) {
	analysistest.Run(t, ".", flow.Analyzer, "./testdata/helpers")
}

// TestAnalyzersAreValid: their names are flags, and none is there twice.
func TestAnalyzersAreValid(t *testing.T) {
	if err := analysis.Validate(coatvet.Analyzers); err != nil {
		t.Fatal(err)
	}
}
