package table_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool/table"
)

// at runs fs concurrently.
func at(fs ...func()) { testkit.Together(len(fs), func(i int) { fs[i]() }) }

// fill returns a function that sets a field of each record i to of(i).
func fill[F any, K comparable, R any](tb *table.Table[K, R], field func(*R) *F, of func(i int) F) func() {
	return func() {
		for i, x := range table.Column(tb, field).All() {
			*x = of(int(i))
		}
	}
}

// TestColumnsInParallel: goroutines may work on different columns, and on parts of one
// column, under AoS too.
func TestColumnsInParallel(t *testing.T) {
	type body struct {
		A, B  int
		Name  string
		In    nested
		small [4]uint8
	}
	each(t, func(t *testing.T, l table.Layout) {
		tb := of[int, body](l)
		const n = 1000
		for i := range n {
			tb.Add(i, body{})
		}
		half := func(from, to int) func() {
			b := table.Column(tb, func(r *body) *int { return &r.B })
			return func() {
				for i := from; i < to; i++ {
					*b.At(table.Index(i)) += i
				}
			}
		}
		at(half(0, n/2), half(n/2, n),
			fill(tb, func(r *body) *int { return &r.A }, func(i int) int { return i }),
			fill(tb, func(r *body) *string { return &r.Name }, strconv.Itoa),
			fill(tb, func(r *body) *string { return &r.In.S }, strconv.Itoa),
			fill(tb, func(r *body) *uint8 { return &r.small[0] }, func(i int) uint8 { return uint8(i) }),
			fill(tb, func(r *body) *uint8 { return &r.small[1] }, func(i int) uint8 { return uint8(i) + 1 }))
		for i, r := range tb.All() {
			require.Equal(t, body{i, i, strconv.Itoa(i), nested{S: strconv.Itoa(i)}, [4]uint8{uint8(i), uint8(i) + 1}}, r)
		}
	})
}

// changes must not run beside a reader.
var changes = map[string]func(tb *table.Table[int, pair]){
	"Add":      func(tb *table.Table[int, pair]) { tb.Add(1000, pair{}) },
	"AddBatch": func(tb *table.Table[int, pair]) { tb.AddBatch([]int{1000}, []pair{{}}) },
	"Remove":   func(tb *table.Table[int, pair]) { tb.Remove(3) },
	"Take":     func(tb *table.Table[int, pair]) { _, _ = tb.Take(3) },
	"SetAt":    func(tb *table.Table[int, pair]) { tb.SetAt(3, pair{}) },
	"Clear":    func(tb *table.Table[int, pair]) { tb.Clear() },
	"Reserve":  func(tb *table.Table[int, pair]) { tb.Reserve(1000) },
	"Trim":     func(tb *table.Table[int, pair]) { tb.Reserve(5000); tb.Trim() },
	"At":       func(tb *table.Table[int, pair]) { *table.Column(tb, func(r *pair) *int { return &r.B }).At(3)++ },
}

// child is set in the process that TestChangeBesideReader starts.
const child = "COATCHECK_TABLE_CHILD"

// TestChangeBesideReader: the race detector reports each change beside a reader, under
// either layout, so a program that breaks the contract learns of it. A report fails the
// process, so the accesses run in a child process.
func TestChangeBesideReader(t *testing.T) {
	if os.Getenv(child) != "" {
		for _, l := range layouts {
			for c, change := range changes {
				t.Run(l.String()+"/"+c, func(t *testing.T) {
					// The detector remembers the last few accesses to a word, so one run
					// may miss the race. A report fails the test.
					for tries := 0; tries < 100 && !t.Failed(); tries++ {
						tb := pairs(t, l, 100)
						b := table.Column(tb, func(r *pair) *int { return &r.B })
						at(func() { change(tb) }, func() {
							testkit.Recovered(func() { // a reader beside a change may panic
								for i := range b.All() {
									_, _ = tb.CopyAt(i)
								}
							})
						})
					}
				})
			}
		}
		return
	}
	if !testkit.Race {
		t.Skip("needs the race detector")
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestChangeBesideReader$", "-test.v")
	// Without the options, a report with the stacks of an earlier one is left out.
	cmd.Env = append(os.Environ(), child+"=1",
		"GORACE=halt_on_error=0 atexit_sleep_ms=0 suppress_equal_stacks=0 suppress_equal_addresses=0")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	for _, l := range layouts {
		for c := range changes {
			if !strings.Contains(string(out), "--- FAIL: TestChangeBesideReader/"+l.String()+"/"+c+" ") {
				t.Errorf("%v: %s beside a reader is not reported", l, c)
			}
		}
	}
}
