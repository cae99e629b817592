package testkit

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Apart runs f on its own goroutine and waits for it. f may panic or exit, and leaves nothing
// reachable from the test's stack. Apart returns the value of the panic. If f runs out of Patience,
// Apart ends the tests with a dump.
func Apart(f func()) (panicked any) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		f()
	}()
	defer limited("a test whose goroutine runs apart", Patience())()
	<-done
	return panicked
}

// Recovered calls f and returns the value of its panic.
func Recovered(f func()) (panicked any) {
	defer func() { panicked = recover() }()
	f()
	return nil
}

// RequirePanicText requires that f panics with a string that contains all parts.
func RequirePanicText(t testing.TB, f func(), parts ...string) {
	t.Helper()
	v := Apart(f)
	text, ok := v.(string)
	require.Truef(t, ok, "want a panic with a text, got %v", v)
	for _, part := range parts {
		assert.Contains(t, text, part)
	}
}
