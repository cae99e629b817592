package pool_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The fast paths are as fast as they are because they end up in the caller's
// loop. One node too many, or a helper whose body is not handed on, and each
// costs a call or three: nothing fails but the benchmarks.
func TestLookupsInline(t *testing.T) {
	// Always for amd64: a 32-bit platform makes a call of each 64-bit atomic.
	build := exec.Command("go", "build", "-trimpath", "-gcflags=-m=2", "./testdata/inline", "./testdata/inline/dense")
	build.Env = append(os.Environ(), "GOARCH=amd64")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for what, said := range map[string]string{
		"Guard.Get":    `inline\.go:\d+:\d+: inlining call to pool\.\(\*Guard\[.*\]\)\.Get`,
		"Pool.Pin":     `inline\.go:\d+:\d+: inlining call to pool\.\(\*Pool\[.*\]\)\.Pin`,
		"Guard.Unpin":  `inline\.go:\d+:\d+: inlining call to pool\.\(\*Guard\[.*\]\)\.Unpin`,
		"Contains":     `inline\.go:\d+:\d+: inlining call to pool\.\(\*Pool\[.*\]\)\.Contains`,
		"All":          `inline\.go:\d+:\d+: inlining call to pool\.\(\*Pool\[.*\]\)\.All`,
		"All's body":   `inline\.go:\d+:\d+: inlining call to all\.\(\*Pool\[.*\]\)\.All`,
		"Worker.Get":   `inline\.go:\d+:\d+: inlining call to pool\.\(\*Worker\[.*\]\)\.Get`,
		"Ptr.Get":      `inline\.go:\d+:\d+: inlining call to pool\.Ptr\[.*\]\.Get`,
		"atomic loads": `inline\.go:\d+:\d+: inlining call to atomic\.\(\*Uint64\)\.Load`,
		"slot words":   `limbo\.go:\d+:\d+: inlining call to shard\.Vacated`,
		"Local":        `insert\.go:\d+:\d+: inlining call to shard\.\(\*Arena\[.*\]\)\.Local`,
		"hints":        `inlining call to hint\.Goroutine`,

		"an index in dense":      `dense/lookup\.go:\d+:\d+: inlining call to shard\.Low`,
		"a generation in dense":  `dense/lookup\.go:\d+:\d+: inlining call to shard\.Generation`,
		"a handle made by dense": `dense/create\.go:\d+:\d+: inlining call to shard\.Pack`,
		"a next handle in dense": `dense/closeup\.go:\d+:\d+: inlining call to shard\.Reborn`,
	} {
		require.True(t, regexp.MustCompile(said).Match(out), "%s is not put into its caller", what)
	}
}

// L12 needs the loads of a copy to come after the first look at the slot's word and
// before the second, in the machine code as in the source. So no instruction after
// the second look may load through a pointer, and some between the two must.
func TestCopyIsLoadedBetweenLooks(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a pool nine times")
	}
	build := exec.Command("go", "build", "-trimpath", "-gcflags=-S", "./testdata/copies")
	build.Env = append(os.Environ(), "GOARCH=amd64")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	instances := 0
	for _, code := range functions(string(out), "coatcheck/pool.(*Pool[go.shape.", "]).Get STEXT ") {
		instances++
		looks, loads := 0, 0
		listing := strings.Join(code, "")
		for _, line := range code {
			f := strings.Split(strings.TrimSuffix(line, "\n"), "\t") // nothing, position, instruction, operands
			if len(f) < 3 {
				continue
			}
			at, op, operands := f[1], f[2], strings.Join(f[3:], "")
			switch loading := loadsThroughPointer(op, operands); {
			case loading && strings.Contains(at, "sync/atomic/type.go:"):
				looks++ // at the table of pages, then twice at the word
			case looks == 2 && loading:
				loads++
			case looks > 2 && loading:
				t.Errorf("a load after the second look: %s\n%s", line, listing)
			case op == "CALL" && !loading && !mayBeCalled.MatchString(operands):
				t.Errorf("a call: %s\n%s", line, listing)
			}
		}
		require.Equal(t, 3, looks, "%s", listing)
		require.NotZero(t, loads, "nothing is copied between the looks:\n%s", listing)
	}
	require.Equal(t, 9, instances)
}

// functions returns the lines of each function in the compiler's listing whose first
// line begins and contains these. The listing is long: the race detector would take
// half a minute over one regular expression.
func functions(listing, begins, contains string) (found [][]string) {
	inside := false
	for line := range strings.Lines(listing) {
		switch {
		case strings.HasPrefix(line, begins) && strings.Contains(line, contains):
			inside = true
			found = append(found, nil)
		case inside && (!strings.HasPrefix(line, "\t0x") || !strings.Contains(line, " (")):
			inside = false
		}
		if inside {
			found[len(found)-1] = append(found[len(found)-1], line)
		}
	}
	return found
}

// through is an operand in memory that is not the stack.
const through = `-?\d*\((AX|BX|CX|DX|SI|DI|R\d+)\)`

var (
	throughPointer = regexp.MustCompile(through)
	lastThrough    = regexp.MustCompile(`, ` + through + `(\(\w+\*\d\))?$`)
	mayBeCalled    = regexp.MustCompile(`^runtime\.(gopanic|morestack\w*|duffzero|memclr\w*)\(SB\)$`)
)

// loadsThroughPointer reports whether an instruction reads memory that is not the
// stack: by an operand that is not what it stores to, or by itself.
func loadsThroughPointer(op, operands string) bool {
	switch {
	case strings.HasPrefix(op, "LEA"):
		return false
	case op == "CALL":
		return strings.Contains(operands, "memmove") || strings.Contains(operands, "duffcopy")
	case op == "MOVSQ" || op == "MOVSB":
		return operands == "" // from (SI)
	}
	if strings.HasPrefix(op, "MOV") {
		operands = lastThrough.ReplaceAllString(operands, "")
	}
	return throughPointer.MatchString(operands)
}
