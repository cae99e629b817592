package table_test

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/table"
)

// at runs fs concurrently. Their goroutines stay until all are done: the race detector
// soon forgets the accesses of a goroutine that has ended.
func at(fs ...func()) {
	var done, ended sync.WaitGroup
	done.Add(len(fs))
	ended.Add(len(fs))
	for _, f := range fs {
		go func() {
			defer ended.Done()
			f()
			done.Done()
			done.Wait()
		}()
	}
	ended.Wait()
}

// TestReadersAtOnce: any number of goroutines read at once, by each method that reads,
// and all see what was written before.
func TestReadersAtOnce(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		p := pool.Must[int](nil)
		tb := forHandles[record](t, p, l)
		const n = 200
		var hs []handle
		for i := range n {
			hs = append(hs, insert(t, p, i))
			tb.Add(hs[i], newRecord(uint64(i)))
		}
		names := table.Column(tb, func(r *record) *string { return &r.Name })
		reader := func() {
			ids := table.Column(tb, func(r *record) *uint64 { return &r.ID })
			for i, h := range hs {
				r, err := tb.Copy(h)
				if err != nil || r.ID != uint64(i) || *ids.At(tb.Lookup(h)) != r.ID || *names.At(table.Index(i)) != r.Name {
					t.Errorf("record %d of %v: %v %v", i, h, r, err)
				}
				if k, err := tb.KeyAt(table.Index(i)); err != nil || k != h || tb.Keys()[i] != h {
					t.Errorf("record %d is %v's, want %v's, %v", i, k, h, err)
				}
			}
			for i, id := range ids.Batch(tb.LookupBatch(hs, nil), nil) {
				if *id != uint64(i) {
					t.Errorf("record %d is not at its place in a batch", i)
				}
			}
			sum := uint64(0)
			for _, id := range ids.All() {
				sum += *id
			}
			for _, r := range tb.All() {
				sum += r.ID
			}
			if sum != n*(n-1) || tb.Len() != n || tb.Allocated() < n || tb.Pages() == 0 {
				t.Errorf("sum %d of %d records", sum, tb.Len())
			}
		}
		at(reader, reader, reader, reader)
	})
}

// TestColumnsInParallel: goroutines may work on different columns, and on parts of one
// column, under AoS too.
func TestColumnsInParallel(t *testing.T) {
	type body struct {
		A, B  int32
		X     float64
		Name  string
		In    nested
		small [4]uint8
	}
	each(t, func(t *testing.T, l table.Layout) {
		tb := of[int, body](t, l)
		const n = 1000
		for i := range n {
			tb.Add(i, body{})
		}
		half := func(from, to int) func() {
			b := table.Column(tb, func(r *body) *int32 { return &r.B })
			return func() {
				for i := from; i < to; i++ {
					*b.At(table.Index(i)) += int32(i)
				}
			}
		}
		at(half(0, n/2), half(n/2, n),
			func() {
				for i, a := range table.Column(tb, func(r *body) *int32 { return &r.A }).All() {
					*a = int32(i)
				}
			},
			func() {
				for i, x := range table.Column(tb, func(r *body) *float64 { return &r.X }).All() {
					*x = float64(i)
				}
			},
			func() {
				for i, s := range table.Column(tb, func(r *body) *string { return &r.In.S }).All() {
					*s = newRecord(uint64(i)).Name
				}
			},
			func() {
				for i, s := range table.Column(tb, func(r *body) *uint8 { return &r.small[0] }).All() {
					*s = uint8(i)
				}
			},
			func() {
				for i, s := range table.Column(tb, func(r *body) *uint8 { return &r.small[1] }).All() {
					*s = uint8(i) + 1
				}
			})
		for i, r := range tb.All() {
			require.Equal(t, body{A: int32(i), B: int32(i), X: float64(i), In: nested{S: newRecord(uint64(i)).Name}, small: [4]uint8{uint8(i), uint8(i) + 1}}, r)
		}
	})
}

// TestPhases: one phase that changes the table alternates with phases of readers, under
// several kinds of synchronization.
func TestPhases(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		tb := of[int, record](t, l)
		var mu sync.RWMutex
		writer := func() {
			for i := range 400 {
				mu.Lock()
				tb.Add(i, newRecord(uint64(i)))
				if i%3 == 0 {
					tb.Remove(i / 2)
				}
				mu.Unlock()
			}
		}
		reader := func() {
			for range 100 {
				mu.RLock()
				for _, k := range tb.Keys() {
					if r, err := tb.Copy(k); err != nil || r.ID != uint64(k) {
						t.Errorf("record %d: %d %v", k, r.ID, err)
					}
				}
				mu.RUnlock()
			}
		}
		at(writer, reader, reader)
	})
}

// changes must not run beside any other access; each conflicts with every one of reads.
var changes = map[string]func(tb *table.Table[int, pair]){
	"Add":      func(tb *table.Table[int, pair]) { tb.Add(1000, pair{}) },
	"AddBatch": func(tb *table.Table[int, pair]) { tb.AddBatch([]int{1000}, []pair{{}}) },
	"Remove":   func(tb *table.Table[int, pair]) { tb.Remove(3) },
	"Insert":   func(tb *table.Table[int, pair]) { _, _ = tb.Insert(1000, pair{}) },
	"Take":     func(tb *table.Table[int, pair]) { _, _ = tb.Take(3) },
	"RemoveAt": func(tb *table.Table[int, pair]) { tb.RemoveAt(3) },
	"Set":      func(tb *table.Table[int, pair]) { tb.Set(3, pair{}) },
	"SetAt":    func(tb *table.Table[int, pair]) { tb.SetAt(3, pair{}) },
	"Clear":    func(tb *table.Table[int, pair]) { tb.Clear() },
	"Reserve":  func(tb *table.Table[int, pair]) { tb.Reserve(1000) },
	"Trim":     func(tb *table.Table[int, pair]) { tb.Reserve(5000); tb.Trim() },
	"At":       func(tb *table.Table[int, pair]) { *table.Column(tb, func(r *pair) *int { return &r.B }).At(3)++ },
}

var reads = map[string]func(tb *table.Table[int, pair]){
	"All": func(tb *table.Table[int, pair]) {
		for range tb.All() {
			continue
		}
	},
	"View": func(tb *table.Table[int, pair]) {
		sum := 0
		for _, b := range table.Column(tb, func(r *pair) *int { return &r.B }).All() {
			sum += *b
		}
		_ = sum
	},
	"CopyAt": func(tb *table.Table[int, pair]) { _, _ = tb.CopyAt(3) },
}

// child is set in the process that TestChangeBesideReader starts.
const child = "COATCHECK_TABLE_CHILD"

// TestChildOfChangeBesideReader runs in the child process of TestChangeBesideReader.
func TestChildOfChangeBesideReader(t *testing.T) {
	if os.Getenv(child) == "" {
		t.Skip("runs in a process of its own")
	}
	for _, l := range layouts {
		for c, change := range changes {
			for r, read := range reads {
				t.Run(l.String()+"/"+c+"/"+r, func(t *testing.T) {
					// The detector remembers the last few accesses to a word, so one run
					// may miss the race. A report fails the test.
					for tries := 0; tries < 100 && !t.Failed(); tries++ {
						tb := pairs(t, l, 100)
						// A reader beside a change may panic.
						at(func() { change(tb) }, func() { recovered(func() { read(tb) }) })
					}
				})
			}
		}
		t.Run(l.String()+"/alone", func(t *testing.T) {
			tb := pairs(t, l, 100)
			var fs []func()
			for _, read := range reads {
				fs = append(fs, func() { read(tb) }, func() { read(tb) })
			}
			at(fs...)
			at(func() { changes["At"](tb) }, func() { // on different fields
				for _, a := range table.Column(tb, func(r *pair) *int { return &r.A }).All() {
					*a++
				}
			})
		})
	}
}

// TestChangeBesideReader: the race detector reports each change beside each reader, under
// either layout, and nothing else. A report fails the process, so the accesses run in a
// child process.
func TestChangeBesideReader(t *testing.T) {
	if !testkit.Race {
		t.Skip("needs the race detector")
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestChildOfChangeBesideReader$", "-test.v")
	// Without the options, a report with the stacks of an earlier one is left out.
	cmd.Env = append(os.Environ(), child+"=1",
		"GORACE=halt_on_error=0 atexit_sleep_ms=0 suppress_equal_stacks=0 suppress_equal_addresses=0")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	for _, l := range layouts {
		require.True(t, strings.Contains(string(out), "--- PASS: TestChildOfChangeBesideReader/"+l.String()+"/alone "), "readers alone, and the end of the child:\n%s",
			out[max(0, len(out)-2000):])
		for c := range changes {
			for r := range reads {
				if !strings.Contains(string(out), "--- FAIL: TestChildOfChangeBesideReader/"+l.String()+"/"+c+"/"+r+" ") {
					t.Errorf("%v: %s beside %s is not reported", l, c, r)
				}
			}
		}
	}
}
