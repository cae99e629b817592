package cgohandle_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"math"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/cgohandle"
)

// verbs are the methods of one implementation. Number 0 is the zero handle, the others
// are in the order of create.
type verbs struct {
	create  func(v any)
	value   func(i int) any
	destroy func(i int)
}

// ofHandles are the verbs of handles of type H.
func ofHandles[H any](create func(v any) H, value func(h H) any, destroy func(h H)) verbs {
	hs := make([]H, 1)
	return verbs{
		func(v any) { hs = append(hs, create(v)) },
		func(i int) any { return value(hs[i]) },
		func(i int) { destroy(hs[i]) },
	}
}

// stream draws operations and does each with runtime/cgo.Handle (original), then with this
// package. It uses all handles issued, stale ones and zero too, and values of all kinds. All
// must return or refuse the same.
func stream(t testing.TB, _ int, choose func(n int) int, more func() bool) map[string]int {
	values := []any{nil, 1, "two", 3.0, []int{4}, &struct{ five int }{5}, struct{ a, b string }{"6", "7"}, error(pool.ErrFull)}
	tab := cgohandle.NewTable[any]()
	subjects := []verbs{original(),
		ofHandles(cgohandle.NewHandle, cgohandle.Handle.Value, cgohandle.Handle.Delete),
		ofHandles(tab.New, tab.Value, tab.Delete)}
	issued, live, done := 1, map[int]bool{}, map[string]int{}
	for more() {
		pick, v, what := choose(issued), values[choose(len(values))], "Value"
		do := func(s verbs) any { return s.value(pick) }
		switch choose(4) {
		case 0, 1:
			what, do = "New", func(s verbs) any { s.create(v); return nil }
			live[issued] = true
			issued++
		case 2:
			what, do = "Delete", func(s verbs) any { s.destroy(pick); return nil }
			delete(live, pick)
		}
		var outcomes [3][2]any // what a caller sees: the result, and whether it panics
		for i, s := range subjects {
			outcomes[i][1] = testkit.Recovered(func() { outcomes[i][0] = do(s) }) != nil
			require.Equal(t, outcomes[0], outcomes[i], "subject %d: %s of handle %d, or New(%v)", i, what, pick, v)
		}
		done[fmt.Sprint(what, " panics: ", outcomes[0][1])]++
	}
	for i := range live { // these tables belong to the process
		for _, s := range subjects {
			s.destroy(i)
		}
	}
	return done
}

func TestHandlesMatchOriginal(t *testing.T) {
	testkit.MatchModel(t, 1, testkit.Long(400), 200, stream, 1,
		"New panics: false", "Value panics: false", "Value panics: true", "Delete panics: false", "Delete panics: true")
}

func FuzzAgainstOriginal(f *testing.F) { testkit.FuzzModel(f, 1, 400, stream) }

// TestWordsThatAreNoHandlesAreRefused: C may pass back any word. If it is not a live
// handle, Lookup returns false and the others panic with a description.
func TestWordsThatAreNoHandlesAreRefused(t *testing.T) {
	h := cgohandle.New("live")
	defer h.Delete()
	stale := cgohandle.New("gone")
	stale.Delete()
	const half, top = bits.UintSize / 2, bits.UintSize - 1
	for _, word := range []cgohandle.Handle{0, 1, stale, ^h, h ^ 1, h ^ 1<<half, h ^ 1<<top, math.MaxUint32, ^cgohandle.Handle(0)} {
		v, ok := word.Lookup()
		require.False(t, ok, "%#x is %v", word, v)
		require.Nil(t, v)
		says := testkit.FirstLine(cgohandle.Explain(word))
		require.Equal(t, "cgohandle: Value of an invalid handle: "+says, panicText(func() { word.Value() }))
		require.Equal(t, "cgohandle: Delete of an invalid handle: "+says, panicText(func() { word.Delete() }))
	}
	require.Contains(t, panicText(stale.Delete), "is stale: removed")
	require.Equal(t, "live", h.Value())
	require.Contains(t, panicText(func() { new(cgohandle.Table[int]).Value(1) }), "a zero ")
}

// TestTrimGivesBack: the memory of a peak comes back, from the table of all Handles too, and no
// handle with it.
func TestTrimGivesBack(t *testing.T) {
	const peak, slot = 100_000, 16 // bytes of a slot of int, and less than one of any
	least := int64(peak * slot / 2)
	if bits.UintSize == 32 {
		least = -1
	}
	tab := cgohandle.NewTable[int]()
	for name, run := range map[string]struct {
		create  func() uintptr
		live    func(h uintptr) bool
		destroy func(h uintptr)
		trim    func() int64
	}{
		"the table of all Handles": {
			func() uintptr { return uintptr(cgohandle.New(1)) },
			func(h uintptr) bool { _, ok := cgohandle.Handle(h).Lookup(); return ok },
			func(h uintptr) { cgohandle.Handle(h).Delete() },
			cgohandle.Trim,
		},
		"a Table": {
			func() uintptr { return tab.New(1) },
			func(h uintptr) bool { _, ok := tab.Lookup(h); return ok },
			tab.Delete,
			tab.Trim,
		},
	} {
		run.trim()
		hs := make([]uintptr, peak)
		for i := range hs {
			hs[i] = run.create()
		}
		before := testkit.Heap()
		for _, h := range hs[1:] {
			run.destroy(h)
		}
		require.Greater(t, run.trim(), least, name)
		if least > 0 {
			require.Greater(t, before-testkit.Heap(), least, name)
		}
		for i, h := range hs {
			require.Equal(t, i == 0, run.live(h), "%s: handle %d", name, i)
		}
		run.destroy(hs[0])
	}
}

// panicText returns the first line that f panics with; under the tag coatcheck_debug
// stacks follow.
func panicText(f func()) string { return testkit.FirstLine(fmt.Sprint(testkit.Recovered(f))) }

func TestVerbsAllocateNothing(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates, and so do records")
	}
	v := new(int)
	tab := cgohandle.NewTable[*int]()
	do := func() {
		h := cgohandle.New(v)
		h.Value()
		h.Lookup()
		h.Delete()
		n := tab.New(v)
		tab.Value(n)
		tab.Delete(n)
	}
	do() // the first pages
	require.Zero(t, testing.AllocsPerRun(200, do))
}

// TestNamesOfTheOriginal: each name of runtime/cgo is here, but for one that names no handle.
func TestNamesOfTheOriginal(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(build.Default.GOROOT, "src/runtime/cgo/*.go"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("there is no source of Go")
	}
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		if f.Name.Name != "cgo" {
			continue
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && !strings.HasPrefix(filepath.Base(file), "callbacks") {
					names = append(names, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() {
						names = append(names, s.Name.Name)
					}
				}
			}
		}
	}
	slices.Sort(names)
	require.Equal(t, []string{"Delete", "Handle", "Incomplete", "NewHandle", "Value"}, slices.Compact(names))
}

// TestTableIsPrintedBesideCalls: without a race.
func TestTableIsPrintedBesideCalls(t *testing.T) {
	tb := cgohandle.NewTable[int]()
	testkit.Together(2, func(k int) {
		for i := range 100 {
			if k == 0 {
				require.Contains(t, fmt.Sprintf("%v", tb), "*cgohandle.Table[int]: ")
				continue
			}
			tb.New(i)
		}
	})
	require.Contains(t, fmt.Sprint(tb), ": 100 live of ")
}
