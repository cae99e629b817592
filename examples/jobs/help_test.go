package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"
)

// chain is a graph in which every unit imports the one before it, each with that many
// files. At most one package is ready at a time, so all workers but one park.
func chain(n, files int) []*unit {
	units := make([]*unit, n)
	for i := range units {
		units[i] = &unit{index: i, path: fmt.Sprintf("u%d", i), files: make([]string, files)}
		if i > 0 {
			units[i].imports = []*unit{units[i-1]}
		}
	}
	return units
}

// tangle is a random graph without cycles: up to four imports and up to six
// files for each unit, some without any.
func tangle(r *rand.Rand, n int) []*unit {
	units := make([]*unit, n)
	for i := range units {
		units[i] = &unit{index: i, path: fmt.Sprintf("u%d", i), files: make([]string, r.IntN(7))}
		if i == 0 {
			continue
		}
		for _, j := range r.Perm(i)[:r.IntN(min(i, 4)+1)] {
			units[i].imports = append(units[i].imports, units[j])
		}
	}
	return units
}

// filesOf counts the files of a graph.
func filesOf(units []*unit) (files int) {
	for _, u := range units {
		files += len(u.files)
	}
	return files
}

// judge is work that takes no time and checks what the scheduler promises. Its marks are
// plain, so that the race detector finds a missing happens-before.
type judge struct {
	t       *testing.T
	parsed  [][]int
	checked []int
	checks  atomic.Int32
	onParse func(u *unit, file int) error
	onCheck func(u *unit) error
}

func newJudge(t *testing.T, units []*unit) *judge {
	j := &judge{t: t, parsed: make([][]int, len(units)), checked: make([]int, len(units))}
	for i, u := range units {
		j.parsed[i] = make([]int, len(u.files))
	}
	return j
}

func (j *judge) parse(u *unit, file int) error {
	j.parsed[u.index][file]++
	for _, v := range u.imports {
		if j.checked[v.index] != 1 {
			j.t.Errorf("file %d of %s is parsed before %s is checked", file, u.path, v.path)
		}
	}
	if j.onParse != nil {
		return j.onParse(u, file)
	}
	return nil
}

func (j *judge) check(u *unit) error {
	for file, n := range j.parsed[u.index] {
		if n != 1 {
			j.t.Errorf("%s is checked when its file %d was parsed %d times", u.path, file, n)
		}
	}
	for _, v := range u.imports {
		if j.checked[v.index] != 1 {
			j.t.Errorf("%s is checked before %s", u.path, v.path)
		}
	}
	j.checked[u.index]++
	j.checks.Inc()
	if j.onCheck != nil {
		return j.onCheck(u)
	}
	return nil
}

// requireDone requires that every job was done once.
func (j *judge) requireDone() {
	j.t.Helper()
	for i := range j.checked {
		require.Equal(j.t, 1, j.checked[i], "checks of unit %d", i)
	}
	require.EqualValues(j.t, len(j.checked), j.checks.Load())
}

// module makes a module of the given files, with a go.mod if there is none among them,
// and changes to its directory.
func module(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	if _, ok := files["go.mod"]; !ok {
		files["go.mod"] = "module example.test/m\n\ngo 1.24\n"
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOTOOLCHAIN", "local")
	t.Chdir(dir)
}
