package main

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/length"
	"coatcheck/internal/check/testkit"
)

// jobs runs the program with a command line.
func jobs(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	testkit.Within(t, func() { code = command(t.Context(), args, &out, &said) })
	return code, out.String(), said.String()
}

// column returns a number from the printed table.
func column(t *testing.T, table, row string) int {
	t.Helper()
	for line := range strings.Lines(table) {
		if rest, ok := strings.CutPrefix(line, row+" "); ok {
			n, err := strconv.Atoi(strings.ReplaceAll(strings.Fields(rest)[0], ",", ""))
			require.NoError(t, err)
			return n
		}
	}
	require.Fail(t, "no such row", "%q in\n%s", row, table)
	return 0
}

func TestJobsChecksPackages(t *testing.T) {
	numbers := []int{1, 8, 2}
	if !length.Full() {
		numbers = numbers[:2]
	}
	for _, workers := range numbers {
		code, table, said := jobs(t, "-workers", strconv.Itoa(workers), "-once", "encoding/json", "errors")
		require.Zero(t, code, said)
		packages, files := column(t, table, "packages"), column(t, table, "files")
		require.Greater(t, packages, 40)
		require.Greater(t, files, 300)
		require.Greater(t, column(t, table, "lines"), 50_000)
		require.Equal(t, packages+files, column(t, table, "jobs inserted"))
		require.Equal(t, packages+files, column(t, table, "jobs removed"))
		require.GreaterOrEqual(t, column(t, table, "peak live"), packages)
		require.GreaterOrEqual(t, column(t, table, "slots allocated"), column(t, table, "peak live"))
		require.Positive(t, column(t, table, "reuses"))
		require.NotContains(t, table, "with one worker")
		require.Contains(t, said, plural(workers, "worker")+": 0 of "+strconv.Itoa(packages))
		require.Contains(t, said, strconv.Itoa(packages)+" of "+strconv.Itoa(packages))
		requireMoves(t, workers, column(t, table, "  on another worker"), column(t, table, "jobs removed"))
	}
}

// requireMoves requires that at least three in ten of the jobs ended on another worker
// than they began, unless there was only one worker.
func requireMoves(t *testing.T, workers, elsewhere, removed int) {
	t.Helper()
	t.Logf("%d workers: %s of %d", workers, percent(elsewhere, removed), removed)
	if workers == 1 {
		require.Zero(t, elsewhere)
		return
	}
	least := 30
	if workers == 2 {
		// Usually more than 40. But on a busy machine one of two workers may do most of
		// the work for a while.
		least = 10
	}
	require.GreaterOrEqual(t, 100*elsewhere, least*removed, "%d workers: %d of %d", workers, elsewhere, removed)
}

// TestJobsMovesSlotsAcrossWorkers uses longer lists, and other numbers of workers.
func TestJobsMovesSlotsAcrossWorkers(t *testing.T) {
	if !length.Full() {
		t.Skip("several runs over a good part of the standard library")
	}
	packages, err := list(t.Context(), []string{"net/http"}, io.Discard)
	require.NoError(t, err)
	units, err := connect(packages)
	require.NoError(t, err)
	for _, workers := range []int{8, 2} {
		res, err := checkOnce(t.Context(), units, workers, false, io.Discard)
		require.NoError(t, err)
		require.Greater(t, res.removed, 300)
		requireMoves(t, workers, res.elsewhere, res.removed)
	}
}

func TestJobsChecksStandardLibrary(t *testing.T) {
	if !length.Full() {
		t.Skip("the whole standard library, as by go run")
	}
	code, table, said := jobs(t, "-workers", "4", "-once")
	require.Zero(t, code, said)
	require.Greater(t, column(t, table, "packages"), 250)
	require.Greater(t, column(t, table, "files"), 1_200)
	require.Greater(t, column(t, table, "lines"), 300_000)
	requireMoves(t, 4, column(t, table, "  on another worker"), column(t, table, "jobs removed"))
}

func TestJobsComparesWithOneWorkerAndIsVerbose(t *testing.T) {
	module(t, map[string]string{
		"a/a.go": "package a\n\nimport \"example.test/m/b\"\n\nvar A = b.B\n",
		"b/b.go": "package b\n\nconst B = 1\n",
	})
	code, table, said := jobs(t, "-workers", "2", "-v", "./...")
	require.Zero(t, code, said)
	require.Equal(t, 2, column(t, table, "packages"))
	require.Equal(t, 8, column(t, table, "lines"))
	require.Contains(t, table, "with one worker")
	require.Regexp(t, `(?m)^example.test/m/b +1 files +3 lines`, said)
	require.Regexp(t, `(?m)^example.test/m/a +1 files +5 lines`, said)
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
		"./bare":             {"nothing to check in ./bare", "only tests"},
		"./none/...":         {"nothing to check in ./none/...", "matched no packages"},
		"./lost":             {"go list", "example.test/m/nowhere"},
		"example.test/m/oh":  {"go list", "example.test/m/oh"},
		"no/such/package/xy": {"go list", "no/such/package/xy"},
	} {
		t.Run(pattern, func(t *testing.T) {
			code, table, said := jobs(t, "-workers", "3", pattern)
			require.Equal(t, 1, code)
			require.Empty(t, table)
			for _, w := range want {
				require.Contains(t, said, w)
			}
		})
	}
	code, _, said := jobs(t, "./good")
	require.Zero(t, code, said)
}

// TestJobsHonoursLanguageVersion: ranging over a number needs Go 1.22.
func TestJobsHonoursLanguageVersion(t *testing.T) {
	text := "package old\n\nfunc f() {\n\tfor range 3 {\n\t}\n}\n"
	module(t, map[string]string{"go.mod": "module example.test/old\n\ngo 1.21\n", "old.go": text})
	code, _, said := jobs(t, ".")
	require.Equal(t, 1, code)
	require.Contains(t, said, "go1.22")

	module(t, map[string]string{"go.mod": "module example.test/new\n\ngo 1.22\n", "new.go": text})
	code, _, said = jobs(t, ".")
	require.Zero(t, code, said)
}

func TestJobsExplainsItself(t *testing.T) {
	code, text, said := jobs(t, "-h")
	require.Zero(t, code)
	require.Empty(t, said)
	require.Contains(t, text, "usage: jobs")
	require.Contains(t, text, "-workers n")

	for _, args := range [][]string{{"-workers", "0"}, {"-workers", "-3"}, {"-workers", "many"}, {"-nonsense"}} {
		code, text, said = jobs(t, args...)
		require.Equal(t, 2, code, args)
		require.Empty(t, text)
		require.Contains(t, said, "jobs -h")
	}
}

func TestJobsEndsWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, said bytes.Buffer
	testkit.Within(t, func() { require.Equal(t, 1, command(ctx, []string{"-workers", "2", "fmt"}, &out, &said)) })
	require.Equal(t, "type-checking fmt and all that they import, by 2 workers, and again with 1 for comparison\njobs: interrupted\n", said.String())
	require.Empty(t, out.String())
}

// failAfter cancels at the first package that a run reports.
type failAfter struct{ cancel context.CancelFunc }

func (f failAfter) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(" files ")) {
		f.cancel()
	}
	return len(b), nil
}

func TestJobsEndsWhenInterruptedMidway(t *testing.T) {
	for _, workers := range []string{"1", "4"} {
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		testkit.Within(t, func() {
			require.Equal(t, 1, command(ctx, []string{"-v", "-once", "-workers", workers, "fmt"}, &out, failAfter{cancel}))
		})
		require.Empty(t, out.String())
	}
}
