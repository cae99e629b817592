package jobs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func pack(path string, imports ...string) listed {
	return listed{ImportPath: path, Dir: "/src/" + path, GoFiles: []string{"a.go", "b.go"}, Imports: imports}
}

func TestConnectResolvesVendored(t *testing.T) {
	net := pack("net", "vendor/x/dns", "fmt")
	net.ImportMap = map[string]string{"x/dns": "vendor/x/dns"}
	units, err := connect([]listed{pack("fmt"), pack("vendor/x/dns"), net})
	require.NoError(t, err)
	require.Same(t, units[1], units[2].BySpell["x/dns"])
	require.Same(t, units[0], units[2].BySpell["fmt"])
	require.Equal(t, []*Unit{units[1], units[0]}, units[2].Imports)
	require.Len(t, units[2].Files, 2)
}

func TestConnectRefusesWhatIsNotListed(t *testing.T) {
	_, err := connect([]listed{pack("a", "ghost")})
	require.EqualError(t, err, "package a imports ghost, which go list did not return")
}

// TestUnsafeIsKnown: it has no files to check.
func TestUnsafeIsKnown(t *testing.T) {
	packages, err := decode(strings.NewReader(`{"ImportPath": "unsafe"} {"ImportPath": "a", "Imports": ["unsafe"]}`))
	require.NoError(t, err)
	units, err := connect(packages)
	require.NoError(t, err)
	require.Equal(t, []*Unit{{Path: "a", BySpell: map[string]*Unit{}}}, units)
}
