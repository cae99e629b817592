package main

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func pack(path string, imports ...string) listed {
	return listed{ImportPath: path, Dir: "/src/" + path, GoFiles: []string{"a.go", "b.go"}, Imports: imports}
}

func TestConnectFindsCycles(t *testing.T) {
	for name, c := range map[string]struct {
		packages []listed
		want     string
	}{
		"itself":      {[]listed{pack("a", "a")}, "a → a"},
		"two":         {[]listed{pack("a", "b"), pack("b", "a")}, "a → b → a"},
		"behind path": {[]listed{pack("x", "y"), pack("y", "a"), pack("a", "b"), pack("b", "c"), pack("c", "a")}, "a → b → c → a"},
		"after a diamond": {[]listed{pack("top", "l", "r"), pack("l", "base"), pack("r", "base"), pack("base"),
			pack("p", "top", "q"), pack("q", "p")}, "p → q → p"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := connect(c.packages)
			require.EqualError(t, err, "import cycle: "+c.want)
		})
	}
}

// TestFindCycleAgreesWithConstruction: a graph whose edges all lead to earlier units has
// no cycle; one edge back along a path makes one.
func TestFindCycleAgreesWithConstruction(t *testing.T) {
	seed := uint64(7)
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 200 {
		units := tangle(r, 3+r.IntN(40))
		r.Shuffle(len(units), func(i, j int) { units[i], units[j] = units[j], units[i] })
		require.Nil(t, findCycle(units), "seed %d, round %d", seed, round)

		from := units[r.IntN(len(units))]
		into := from
		for len(into.imports) > 0 && r.IntN(4) > 0 {
			into = into.imports[r.IntN(len(into.imports))]
		}
		into.imports = append(into.imports, from)
		cycle := findCycle(units)
		require.NotNil(t, cycle, "seed %d, round %d", seed, round)
		require.Equal(t, cycle[0], cycle[len(cycle)-1])
		requirePath(t, units, cycle)
	}
}

// requirePath fails unless each unit of path imports the next.
func requirePath(t *testing.T, units []*unit, path []string) {
	t.Helper()
	byPath := map[string]*unit{}
	for _, u := range units {
		byPath[u.path] = u
	}
	require.GreaterOrEqual(t, len(path), 2)
	for i := range len(path) - 1 {
		require.Contains(t, byPath[path[i]].imports, byPath[path[i+1]], "step %s", strconv.Itoa(i))
	}
}

func TestConnectResolvesVendored(t *testing.T) {
	net := pack("net", "vendor/x/dns", "fmt")
	net.ImportMap = map[string]string{"x/dns": "vendor/x/dns"}
	units, err := connect([]listed{pack("fmt"), pack("vendor/x/dns"), net})
	require.NoError(t, err)
	require.Same(t, units[1], units[2].bySpell["x/dns"])
	require.Same(t, units[0], units[2].bySpell["fmt"])
	require.Equal(t, []*unit{units[1], units[0]}, units[2].imports)
	require.Len(t, units[2].files, 2)
}

func TestConnectRefusesWhatIsNotListed(t *testing.T) {
	_, err := connect([]listed{pack("a", "ghost")})
	require.EqualError(t, err, "package a imports ghost, which go list did not return")
}

func TestConnectReadsNoFilesOfUnsafe(t *testing.T) {
	units, err := connect([]listed{pack("unsafe")})
	require.NoError(t, err)
	require.Empty(t, units[0].files)
}
