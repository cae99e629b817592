package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// poolPackage is the package of most seeds. Most of these depend on schedules, and scenarios
// kill them.
const poolPackage = "pool"

// ordinaryPackage has most ordinary tests of package pool.
const ordinaryPackage = "internal/check/ordinary"

// suite is the tests of a package, built with hooked words for scenarios, or without.
type suite struct {
	pkg      string
	explores bool
}

// folder is the folder of u's tests, below the root. Pool's scenarios have one of their own.
func (u suite) folder() string {
	if u.explores && u.pkg == poolPackage {
		return "internal/check/explore"
	}
	return u.pkg
}

// killer is a scenario or an ordinary test.
type killer struct {
	suite
	name string
}

// generated is the test that draws programs. It counts as a scenario.
const generated = "TestInterleaveGenerated"

// test returns the killer's full name in go test.
func (k killer) test() string {
	if !k.explores || k.name == generated {
		return k.name
	}
	return "TestInterleave/" + strings.ReplaceAll(k.name, " ", "_")
}

// pattern returns the regular expression for -test.run that matches it alone.
func (k killer) pattern() string {
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(k.test()), "/", "$/^") + "$"
}

// explores reports whether a file of tests explores schedules.
func explores(text []byte) bool { return bytes.HasPrefix(text, []byte("//go:build interleave\n")) }

var (
	testName     = regexp.MustCompile(`^(Test|Example)\w*$`)
	testFunc     = regexp.MustCompile(`(?m)^func ((?:Test|Example)\w*)\(`)
	scenarioName = regexp.MustCompile(`(?m)^\t\{"([^"]+)", (?:true, |false, )?func\(\w \*[\w.]+\) \{$`)
)

// killersOf returns the scenarios and then the ordinary tests of a package in the tree at
// root, as its sources list them.
func killersOf(root, pkg string) ([]killer, error) {
	var scenarios, tests []killer
	suites := []suite{{pkg, true}, {pkg, false}}
	if pkg == poolPackage {
		suites = append(suites, suite{ordinaryPackage, false})
	}
	for _, u := range suites {
		files, err := filepath.Glob(filepath.Join(root, u.folder(), "*_test.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			switch {
			case err != nil:
				return nil, err
			case u.explores != explores(text):
			case u.explores:
				for _, m := range scenarioName.FindAllSubmatch(text, -1) {
					scenarios = append(scenarios, killer{u, string(m[1])})
				}
			default:
				for _, m := range testFunc.FindAllSubmatch(text, -1) {
					tests = append(tests, killer{u, string(m[1])})
				}
			}
		}
	}
	return append(scenarios, tests...), nil
}
