package peer

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/bench/suite"
)

func TestEveryPeerHasItsName(t *testing.T) {
	roles := Roles()
	seen := make(map[string]bool)
	for _, p := range All[Rest16]() {
		require.False(t, seen[p.Name], "two peers are called %s", p.Name)
		seen[p.Name] = true
		assert.NotEmpty(t, p.What, p.Name)
		got, ok := ByName[Rest16](p.Name)
		require.True(t, ok)
		assert.Equal(t, p.About, got.About)
		assert.Equal(t, p.Role, roles[p.Name])
	}
	require.Len(t, roles, len(seen))
	for role, names := range map[suite.Role][]string{
		suite.Ours:      {NamePool, NameFIFO, NameWorker},
		suite.Reference: {NamePlain, NameSlice, NameNew, NameSyncPool, NameChannel},
		suite.Theirs:    {NameMutex, NameArk},
	} {
		for _, name := range names {
			assert.Equal(t, role, roles[name], name)
		}
	}
	_, ok := ByName[Rest16]("nobody")
	require.False(t, ok)
}

// A loop that is not what its session's methods say would be timed, and nothing else
// would tell.
func TestSessionsAreGenerated(t *testing.T) {
	want, err := exec.Command("go", "run", "gen.go").CombinedOutput()
	require.NoError(t, err, "%s", want)
	got, err := os.ReadFile("sessions.go")
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got), "sessions.go is not what gen.go makes: run go generate")
}
