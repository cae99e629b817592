package peer

import (
	"regexp"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"coatcheck/internal/check/testkit"
)

// The loops cost as much as loops written by hand for one peer: the machine code of each
// contestant's do makes no call through a pointer, and calls neither loops nor a literal.
// In the loops that take a few nanoseconds a turn, look-ups are inlined as well: ours, and
// those of others that can be. A call too many once made two of these look twice as slow.
func TestLoopsInline(t *testing.T) {
	if testing.Short() {
		t.Skip("asks the compiler")
	}
	out := testkit.Compile(t, runtime.GOARCH, "-S", "../workload")
	functions := regexp.MustCompile(`(?m)^\S*?/peer\.(\S+) STEXT.*\n(?:\t.*\n)+`).FindAllStringSubmatch(out, -1)
	for _, c := range []struct {
		name  string // of functions
		count int
		calls string // that they do not make
	}{
		{`^\(\*\w+\[go\.shape\.\[1\]uint64\]\)\.do$`, len(All[Rest16]()) - 1, `R_CALLIND|R_CALL \S*/peer\.(\w|\S*\.do\.)`}, // pool-guard is a pool
		{`^\(\*plainSession\[go\.shape\.\[1\]uint64\]\)\.do$`, 1, `R_CALL .*slotMap`},
		{`^\(\*arkSession\[go\.shape\.\[1\]uint64\]\)\.do$`, 1, `R_CALL .*(Alive|GetUnchecked)`},
		{`readPinned\[go\.shape\.\[1\]uint64\]\.(func)?1$`, 1, `R_CALL .*(Get|idOf|func1\.)`}, // also if it is inlined elsewhere
	} {
		count := 0
		for _, f := range functions {
			if regexp.MustCompile(c.name).MatchString(f[1]) {
				count++
				assert.Empty(t, regexp.MustCompile(".*"+c.calls+".*").FindAllString(f[0], -1), f[1])
			}
		}
		assert.Equal(t, c.count, count, c.name)
	}
	assert.False(t, regexp.MustCompile(`R_CALL \S*/xsync/v4\.(h1|h2|broadcast)`).MatchString(out), "xsync's look-ups call short functions")
}
