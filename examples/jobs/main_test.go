package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

// checked checks packages as the program does.
func checked(t *testing.T, workers int, patterns ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	testkit.Within(t, func() { err = checkAll(t.Context(), patterns, workers, &out, &errs) })
	return out.String(), errs.String(), err
}

// module makes a module of the given files, and changes to its directory.
func module(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.test/m\n\ngo 1.24\n"
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

// column returns a number from the printed table.
func column(t *testing.T, table, row string) int {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + row + ` +(\d+) `).FindStringSubmatch(table)
	require.NotNil(t, found, "no row %q in\n%s", row, table)
	n, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	return n
}

// Most jobs are not removed by the worker that inserted them. On a busy machine one of two
// workers may do most of the work for a while, so little is required of two.
func TestJobsChecksPackages(t *testing.T) {
	if testkit.Short() || testkit.Race && !testkit.Full() {
		t.Skip("type-checks packages three times, as the program does")
	}
	least := map[int]int{1: 0, 2: 10, 8: 30} // percent of the removals, by workers
	patterns := []string{"encoding/json", "errors"}
	if testkit.Full() {
		patterns = []string{"std"}
	}
	for workers, least := range least {
		table, _, err := checked(t, workers, patterns...)
		require.NoError(t, err)
		packages, files := column(t, table, "packages"), column(t, table, "files")
		require.Greater(t, packages, 40)
		require.Greater(t, files, 300)
		require.Equal(t, packages+files, column(t, table, "jobs inserted"))
		require.Equal(t, packages+files, column(t, table, "jobs removed"))
		require.Positive(t, column(t, table, "reuses"))
		elsewhere := column(t, table, "  on another worker")
		require.GreaterOrEqual(t, 100*elsewhere, least*(packages+files), table)
	}
}

func TestJobsRefuses(t *testing.T) {
	files := map[string]string{
		"good/good.go":   "package good\n\nconst Good = 1\n",
		"wrong/wrong.go": "package wrong\n\nimport \"example.test/m/good\"\n\nvar X string = good.Good\n\nfunc f() { unused := 1 }\n",
		"torn/torn.go":   "package torn\n\nfunc {\n",
		"ring/a/a.go":    "package a\n\nimport _ \"example.test/m/ring/b\"\n",
		"ring/b/b.go":    "package b\n\nimport _ \"example.test/m/ring/a\"\n",
		"bare/x_test.go": "package bare\n",
		"lost/lost.go":   "package lost\n\nimport _ \"example.test/m/nowhere\"\n",
		"none/README":    "",
	}
	module(t, files)
	for pattern, want := range map[string][]string{
		"./wrong":            {"package example.test/m/wrong has type errors", "wrong.go:5:", "cannot use good.Good", "declared and not used"},
		"./torn":             {"package example.test/m/torn", "torn.go:3:6"},
		"./ring/a":           {"go list", "import cycle not allowed"},
		"./bare":             {"nothing to check in ./bare"},
		"./none/...":         {"matched no packages", "nothing to check in ./none/..."},
		"./lost":             {"go list", "example.test/m/nowhere"},
		"example.test/m/oh":  {"go list", "example.test/m/oh"},
		"no/such/package/xy": {"go list", "no/such/package/xy"},
	} {
		t.Run(pattern, func(t *testing.T) {
			table, errs, err := checked(t, 3, pattern)
			require.Error(t, err)
			require.Empty(t, table)
			for _, w := range want {
				require.Contains(t, errs+err.Error(), w)
			}
		})
	}
	table, errs, err := checked(t, 2, "./good")
	require.NoError(t, err)
	require.Equal(t, "type-checking ./good and all that they import, by 2 workers\n", errs)
	require.Equal(t, 1, column(t, table, "files"))
}

func TestJobsEndsWhenInterrupted(t *testing.T) {
	var out bytes.Buffer
	testkit.Within(t, func() {
		require.ErrorIs(t, checkAll(testkit.Done(), []string{"fmt"}, 2, &out, io.Discard), context.Canceled)
	})
	require.Empty(t, out.String())
}
