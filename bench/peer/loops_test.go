package peer

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The loops of loops.go cost as much as loops written by hand for one peer, because the
// compiler inlines them into the adapter, and then the adapter's function literals into
// them. One node too many, and each operation costs two more calls through pointers.
func TestLoopsInline(t *testing.T) {
	if testing.Short() {
		t.Skip("asks the compiler")
	}
	said := ask(t)
	// method → its loop, and how many function literals the loop is passed
	loops := map[string]struct {
		name     string
		literals int
	}{
		"Pairs":      {"pairs", 2},
		"Fill":       {"fill", 1},
		"Empty":      {"empty", 2},
		"Replace":    {"replace", 2},
		"Read":       {"read", 1},
		"ReadPinned": {"read", 1},
		"ReadOwned":  {"read", 1},
		"Mix":        {"mix", 2},
	}
	for _, p := range All[Rest16]() {
		store, err := p.Open(Config[Rest16]{Live: 1, Sessions: 1})
		require.NoError(t, err)
		session := store.Session()
		for verb, loop := range loops {
			if _, ok := reflect.TypeOf(session).MethodByName(verb); !ok {
				continue
			}
			adapter := adapterOf(session)
			if verb == "ReadPinned" {
				adapter = "handles" // pool and worker share it
			}
			literal := fmt.Sprintf("(*%s[go.shape.[1]uint64]).%s.func", adapter, verb)
			at := said[literal+"1"]
			require.NotEmpty(t, at, "%s: %s1 is not inlined into its loop", p.Name, literal)
			for i := range loop.literals {
				assert.Equal(t, at, said[fmt.Sprint(literal, i+1)], "%s: %s%d is not inlined into its loop", p.Name, literal, i+1)
			}
			assert.Subset(t, places(said, loop.name), at, "%s: the loop %s is not inlined into %s", p.Name, loop.name, verb)
		}
		session.Close()
		store.Close()
	}
}

// In loops of a few nanoseconds a turn, the calls of the literals must be inlined as well.
func TestFastestPathsInline(t *testing.T) {
	if testing.Short() {
		t.Skip("asks the compiler")
	}
	said := ask(t)
	for _, c := range []struct{ literal, callee string }{
		{"(*handles[go.shape.[1]uint64]).ReadPinned.func1", "pool.(*Guard["},
		{"(*handles[go.shape.[1]uint64]).ReadPinned.func1", "idOf["},
		{"(*plainSession[go.shape.[1]uint64]).Pairs.func1", "(*slotMap["},
		{"(*plainSession[go.shape.[1]uint64]).Read.func1", "(*slotMap["},
		{"(*plainSession[go.shape.[1]uint64]).Read.func1", "idOf["},
	} {
		at := said[c.literal]
		require.NotEmpty(t, at, "%s is not inlined into its loop", c.literal)
		assert.Subset(t, places(said, c.callee), at, "%s: its call of %s… is not inlined", c.literal, c.callee)
	}
}

// ask returns the functions that the compiler inlines, each with the positions of its calls.
func ask(t *testing.T) map[string][]string {
	build := exec.Command("go", "build", "-gcflags=-m", "-o", os.DevNull, ".")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	said := make(map[string][]string)
	for _, m := range regexp.MustCompile(`(?m)^(\S+:\d+:\d+): inlining call to (.*)$`).FindAllStringSubmatch(string(out), -1) {
		said[m[2]] = append(said[m[2]], m[1])
	}
	require.NotEmpty(t, said)
	return said
}

// places returns the positions of inlined calls of functions with that prefix.
func places(said map[string][]string, begins string) (at []string) {
	for callee, places := range said {
		if strings.HasPrefix(callee, begins) {
			at = append(at, places...)
		}
	}
	return
}

// adapterOf returns the name of the type of s without its type arguments.
func adapterOf(s Session) string {
	name, _, _ := strings.Cut(reflect.TypeOf(s).Elem().Name(), "[")
	return name
}
