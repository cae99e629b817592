package testkit

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Compile returns what the compiler says of packages for goarch. The flag asks for it: -S for
// their machine code, -m=2 for what it inlines. Other arguments of go build may stand before
// the packages.
//
// The go command repeats that from its cache as long as it finds it there. If it is lost and
// what was compiled is not, the command says nothing, without an error. Then the packages are
// compiled again, with a definition that is new in each run and that nothing reads.
func Compile(t *testing.T, goarch, flag string, args ...string) string {
	t.Helper()
	out := compile(t, goarch, flag, args)
	packages := 0
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			packages++
		}
	}
	// What is said of each package begins with its path.
	if len(regexp.MustCompile(`(?m)^# `).FindAllString(out, -1)) < packages {
		out = compile(t, goarch, flag+" -env=RUN="+strconv.FormatInt(time.Now().UnixNano(), 10), args)
	}
	return out
}

func compile(t *testing.T, goarch, flag string, args []string) string {
	t.Helper()
	args = slices.Concat([]string{"build", "-o", os.DevNull, "-gcflags=" + flag}, args)
	build := exec.Command("go", args...)
	build.Env = append(os.Environ(), "GOARCH="+goarch)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "go %s\n%s", strings.Join(args, " "), out)
	return string(out)
}
