package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// poolPackage is the package of most mutants. Most of these depend on schedules, and scenarios
// kill them.
const poolPackage = "pool"

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
	testName = regexp.MustCompile(`^(Test|Example)\w*$`)
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Example)\w*)\(`)
	// scenarioName is that of a function, of a struct's literal, or of a row of strings.
	scenarioName = regexp.MustCompile(`(?m)^\t(?:\{"([^"]+)", (?:(?:true, |false, )?func\(\w \*[\w.]+\) \{$|")|\{name: "([^"]+)", |explore\("([^"]+)", )`)
	programName  = regexp.MustCompile(`(?m)^([^\s#].*)$`) // in internal/check/explore/scenarios
)

// killersOf returns the scenarios and then the ordinary tests of a package in the tree at
// root, as its sources list them.
func killersOf(root, pkg string) ([]killer, error) {
	var scenarios, tests []killer
	for _, u := range []suite{{pkg, true}, {pkg, false}} {
		folder := filepath.Join(root, u.folder())
		files, _ := filepath.Glob(filepath.Join(folder, "*_test.go")) // the patterns are right
		programs, _ := filepath.Glob(filepath.Join(folder, "scenarios", "*.txt"))
		for _, file := range append(files, programs...) {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			add := func(list *[]killer, name *regexp.Regexp) {
				for _, m := range name.FindAllSubmatch(text, -1) {
					*list = append(*list, killer{u, string(bytes.Join(m[1:], nil))})
				}
			}
			switch {
			case filepath.Ext(file) == ".txt":
				if u.explores {
					add(&scenarios, programName)
				}
			case u.explores != explores(text):
			case u.explores:
				add(&scenarios, scenarioName)
			default:
				add(&tests, testFunc)
			}
		}
	}
	return append(scenarios, tests...), nil
}
