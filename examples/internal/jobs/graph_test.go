package jobs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConnectResolvesVendored: and unsafe is known, which has no files to check.
func TestConnectResolvesVendored(t *testing.T) {
	units, err := connect(strings.NewReader(`{"ImportPath": "unsafe"} {"ImportPath": "fmt", "Imports": ["unsafe"]}
		{"ImportPath": "vendor/x/dns"}
		{"ImportPath": "net", "Dir": "/net", "GoFiles": ["a.go", "b.go"], "Imports": ["vendor/x/dns", "fmt"], "ImportMap": {"x/dns": "vendor/x/dns"}}`))
	require.NoError(t, err)
	empty := map[string]*Unit{}
	format, dns := &Unit{Path: "fmt", BySpell: empty}, &Unit{Index: 1, Path: "vendor/x/dns", BySpell: empty}
	require.Equal(t, []*Unit{format, dns, {Index: 2, Path: "net", Files: []string{"/net/a.go", "/net/b.go"}, Imports: []*Unit{dns, format},
		BySpell: map[string]*Unit{"fmt": format, "vendor/x/dns": dns, "x/dns": dns}}}, units)
	require.Same(t, units[1], units[2].BySpell["x/dns"])
	require.Same(t, units[0], units[2].BySpell["fmt"])
}

func TestConnectRefusesWhatIsNotListed(t *testing.T) {
	_, err := connect(strings.NewReader(`{"ImportPath": "a", "Imports": ["ghost"]}`))
	require.EqualError(t, err, "package a imports ghost, which go list did not return")
	_, err = connect(strings.NewReader(`{"ImportPath": "a"} {"Imp`))
	require.ErrorContains(t, err, "reading go list's output: ")
}
