//go:build !interleave

package atom_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// This package costs nothing: the protocol's packages, and a program that uses a pool,
// compile to the same machine code with the types of sync and sync/atomic. An overlay
// replaces the types without moving a line, and the compiler's listings are compared.
func TestSameMachineCode(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the protocol twice")
	}
	overlay := struct{ Replace map[string]string }{make(map[string]string)}
	scratch := t.TempDir()
	words := 0
	for _, dir := range []string{"hint", "../epoch", "../shard", "../pool"} {
		files, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
		require.NoError(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			name, err = filepath.Abs(name)
			require.NoError(t, err)
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			plain, n := withoutAtom(string(text))
			if n == 0 {
				continue
			}
			words += n
			copied := filepath.Join(scratch, strings.ReplaceAll(name, string(filepath.Separator), "_"))
			require.NoError(t, os.WriteFile(copied, []byte(plain), 0o666))
			overlay.Replace[name] = copied
		}
	}
	require.Greater(t, words, 20, "the protocol no longer uses this package")
	file := filepath.Join(scratch, "overlay.json")
	data, err := json.Marshal(overlay)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, data, 0o666))

	through, past := listing(t), listing(t, "-overlay="+file)
	require.Contains(t, through, "LOCK", "no listing")
	// A program that does not import sync/atomic calls none of its methods.
	require.NotRegexp(t, `CALL\s+coatcheck/internal/atom\.StoreLast`, through)
	for line := range strings.Lines(through) {
		if strings.Contains(line, "sync/atomic.(*") {
			require.NotRegexp(t, calls, line)
		}
	}
	if through != past { // require.Equal would print both
		a, b := strings.Split(through, "\n"), strings.Split(past, "\n")
		for i := range min(len(a), len(b)) {
			require.Equal(t, a[i], b[i], "line %d of the listing", i+1)
		}
		require.Len(t, b, len(a))
	}
	t.Logf("%d words, %d lines of assembly", words, strings.Count(through, "\n"))
}

var (
	word     = regexp.MustCompile(`\batom\.(Uint32|Uint64|Int64|Pointer|Mutex)\b`)
	function = regexp.MustCompile(`\batom\.(Inline|Store|Pause|Between|FenceLoads)`)
	calls    = regexp.MustCompile(`CALL\s+sync/atomic\.\(\*U?[Ii]nt\w+\)\.[^L]`)
)

// withoutAtom returns the text of a file with the types of sync and sync/atomic in place of
// this package's, without moving a line, and the number of replacements.
func withoutAtom(text string) (string, int) {
	n := 0
	var atomics, mutexes bool
	text = word.ReplaceAllStringFunc(text, func(w string) string {
		n++
		if w == "atom.Mutex" {
			mutexes = true
			return "plainsync.Mutex"
		}
		atomics = true
		return "plainatomic." + strings.TrimPrefix(w, "atom.")
	})
	if n == 0 {
		return text, 0
	}
	const atom = `"coatcheck/internal/atom"`
	imports := []string{atom}
	if !function.MatchString(text) {
		imports[0] = "_ " + atom
	}
	if atomics {
		imports = append(imports, `plainatomic "sync/atomic"`)
	}
	if mutexes {
		imports = append(imports, `plainsync "sync"`)
	}
	group := strings.Join(imports, "; ")
	if single := "import " + atom; strings.Contains(text, single) {
		return strings.Replace(text, single, "import ("+group+")", 1), n
	}
	return strings.Replace(text, atom, group, 1), n
}

// listing compiles the protocol's packages and a program that instantiates the
// pool, and returns the compiler's assembly of all of them.
func listing(t *testing.T, flags ...string) string {
	t.Helper()
	args := append([]string{"build", "-gcflags=-S"}, flags...)
	build := exec.Command("go", append(args, "coatcheck/internal/hint", "coatcheck/epoch", "coatcheck/shard", "coatcheck/pool", "coatcheck/pool/testdata/inline")...)
	build.Dir = "../.."
	build.Env = append(os.Environ(), "GOARCH=amd64")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	// The order of initialization differs, which is no code.
	var code strings.Builder
	code.WriteString("\n")
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, "R_INITORDER ") {
			code.WriteString(line)
		}
	}
	text := code.String()
	// Packages are listed in the order in which they were built.
	parts := strings.Split(text, "\n# ")
	slices.Sort(parts)
	return strings.Join(parts, "\n# ")
}
