package testkit_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

// hangs are ways to wait for what never comes.
var hangs = map[string]func(t *testing.T){
	"Within":   func(t *testing.T) { testkit.Within(t, func() { select {} }) },
	"Soon":     func(t *testing.T) { testkit.Soon(t, make(chan int)) },
	"Until":    func(t *testing.T) { testkit.Until(t, func() bool { return false }) },
	"Together": func(*testing.T) { testkit.Together(2, func(i int) { <-make(chan int, i) }) },
	"Apart":    func(*testing.T) { testkit.Apart(func() { select {} }) },
	"Seed":     func(*testing.T) { select {} },
	"Eventually": func(t *testing.T) {
		testkit.Eventually(t, func() bool { return false }, "the %s", "condition")
	},
}

// TestHangPrintsSeedAndStacks: a test that waits for what never comes ends at its limit, and tells how
// to repeat it, and where each goroutine is.
func TestHangPrintsSeedAndStacks(t *testing.T) {
	if way := os.Getenv("COATCHECK_HANG"); way != "" {
		testkit.Seed(t)
		hangs[way](t)
		return
	}
	for way := range hangs {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			child := exec.Command(os.Args[0], "-test.run=^TestHangPrintsSeedAndStacks$", "-patience=100ms", "-seed=4711")
			child.Env = append(os.Environ(), "COATCHECK_HANG="+way)
			out, ok := testkit.Run(t, child)
			require.False(t, ok, "it ended well:\n%s", out)
			require.Contains(t, out, "repeat TestHangPrintsSeedAndStacks with -seed 4711")
			require.Contains(t, out, "wait_test.go:")
		})
	}
}
