package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// poolPackage is the package that most seeds are about. Of its tests the scenarios
// alone run here.
const poolPackage = "pool"

// shardPackage is the package of pool's engine. It has no scenarios.
const shardPackage = "shard"

// packages are those whose ordinary tests run here as well: what they promise is
// only in part a matter of schedules.
var packages = []string{shardPackage, "pool/dense", "pool/tree", "pool/command"}

// suite is the tests of a package as they are built: with the words hooked, so that
// scenarios can be explored, or as they are.
type suite struct {
	pkg      string
	explores bool
}

// selection is some of a suite's scenarios or tests.
type selection struct {
	suite
	names []string
}

// selections returns what is to run for s, in this order: of the tree at root
// everything there is, if all.
func (s *seed) selections(root string, all bool) ([]selection, error) {
	scenarios, tests := s.by, s.tests
	if all {
		var err error
		if scenarios, err = scenariosOf(root, s.pkg()); err != nil {
			return nil, err
		}
		if tests, err = testsOf(root, s.pkg()); err != nil {
			return nil, err
		}
	}
	var list []selection
	if len(scenarios) > 0 {
		list = append(list, selection{suite{s.pkg(), true}, scenarios})
	}
	if len(tests) > 0 {
		list = append(list, selection{suite{s.pkg(), false}, tests})
	}
	return list, nil
}

var (
	scenarioName = regexp.MustCompile(`(?m)^\t\{"([^"]+)", (?:true, |false, )?func\(\w \*[\w.]+\) \{$`)
	testName     = regexp.MustCompile(`(?m)^func ((?:Test|Example)\w*)\(`)
)

// scenariosOf returns the names of the scenarios of a package in the tree at root,
// as they are written in its sources.
func scenariosOf(root, pkg string) ([]string, error) {
	names, err := namesIn(filepath.Join(root, pkg, "interleave*_test.go"), scenarioName, nil)
	if err == nil && len(names) == 0 && pkg != shardPackage {
		err = fmt.Errorf("no scenarios in %s/interleave*_test.go", pkg)
	}
	return names, err
}

// testsOf returns the names of the ordinary tests of a package, none for those
// packages whose scenarios alone are run.
func testsOf(root, pkg string) ([]string, error) {
	if pkg == poolPackage {
		return nil, nil
	}
	return namesIn(filepath.Join(root, pkg, "*_test.go"), testName, explorerFile)
}

// namesIn returns what the expression's group finds in the files that match pattern,
// those aside whose base name except matches.
func namesIn(pattern string, expression, except *regexp.Regexp) ([]string, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		if except != nil && except.MatchString(filepath.Base(file)) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, m := range expression.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	return names, nil
}

// generatedPrograms stands for the test that draws programs, among the scenarios.
const generatedPrograms = "generated programs"

// pattern is what -test.run takes to choose one scenario or test.
func (u suite) pattern(name string) string {
	if !u.explores {
		return "^" + regexp.QuoteMeta(name) + "$"
	}
	if name == generatedPrograms {
		return "^TestInterleaveGenerated$"
	}
	return "^TestInterleave$/^" + regexp.QuoteMeta(strings.ReplaceAll(name, " ", "_")) + "$"
}
