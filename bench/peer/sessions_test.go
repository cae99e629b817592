package peer

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSessionsAreGenerated(t *testing.T) {
	want, err := exec.Command("go", "run", "gen.go").CombinedOutput()
	require.NoError(t, err, "%s", want)
	got, err := os.ReadFile("sessions.go")
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got), "sessions.go is out of date: run go generate")
}
