package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// poolPackage is the package that most seeds are about. Most of them are a matter of
// schedules, and scenarios kill them.
const poolPackage = "pool"

// suite is the tests of a package as they are built: with the words hooked, so that
// scenarios can be explored, or as they are.
type suite struct {
	pkg      string
	explores bool
}

// killer is a scenario or an ordinary test.
type killer struct {
	suite
	name string
}

// generated is the test that draws programs, among the scenarios.
const generated = "TestInterleaveGenerated"

// test is the killer's full name, as go test has it.
func (k killer) test() string {
	if !k.explores || k.name == generated {
		return k.name
	}
	return "TestInterleave/" + strings.ReplaceAll(k.name, " ", "_")
}

// pattern is what -test.run takes to choose it alone.
func (k killer) pattern() string {
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(k.test()), "/", "$/^") + "$"
}

var (
	// explorerTest is a file of tests that explore, or of what they need.
	explorerTest = regexp.MustCompile(`^(interleave(_\w+)?|export)_test\.go$`)

	testName     = regexp.MustCompile(`^(Test|Example)\w*$`)
	testFunc     = regexp.MustCompile(`(?m)^func ((?:Test|Example)\w*)\(`)
	scenarioName = regexp.MustCompile(`(?m)^\t\{"([^"]+)", (?:true, |false, )?func\(\w \*[\w.]+\) \{$`)
)

// killersOf returns the scenarios of a package in the tree at root, and then the
// ordinary tests that run here, as they are written in its sources.
func killersOf(root, pkg string) ([]killer, error) {
	files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	var scenarios, tests []killer
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(filepath.Base(file), "interleave") {
			for _, m := range scenarioName.FindAllSubmatch(text, -1) {
				scenarios = append(scenarios, killer{suite{pkg, true}, string(m[1])})
			}
		} else {
			for _, m := range testFunc.FindAllSubmatch(text, -1) {
				tests = append(tests, killer{suite{pkg, false}, string(m[1])})
			}
		}
	}
	return append(scenarios, tests...), err
}
