package sqlite3

import (
	"database/sql/driver"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"testing"
	"time"
)

const (
	measuredRows  = 10_000
	functionsEach = 10 // functions that each connection registers
	neighbours    = 1000
	measured      = 150 * time.Millisecond
	stretch       = 3 * time.Millisecond
)

// numbers is a virtual table with that many rows.
type numbers int

type numbersCursor struct{ at, rows int }

func (m numbers) Create(c *SQLiteConn, _ []string) (VTab, error) {
	return m, c.DeclareVTab("CREATE TABLE x(n INTEGER)")
}
func (m numbers) Connect(c *SQLiteConn, args []string) (VTab, error) { return m.Create(c, args) }
func (numbers) DestroyModule()                                       {}
func (numbers) Disconnect() error                                    { return nil }
func (numbers) Destroy() error                                       { return nil }
func (m numbers) Open() (VTabCursor, error)                          { return &numbersCursor{rows: int(m)}, nil }
func (numbers) BestIndex(cs []InfoConstraint, _ []InfoOrderBy) (*IndexResult, error) {
	return &IndexResult{Used: make([]bool, len(cs))}, nil
}
func (c *numbersCursor) Close() error                    { return nil }
func (c *numbersCursor) Filter(int, string, []any) error { c.at = 0; return nil }
func (c *numbersCursor) Next() error                     { c.at++; return nil }
func (c *numbersCursor) EOF() bool                       { return c.at >= c.rows }
func (c *numbersCursor) Rowid() (int64, error)           { return int64(c.at), nil }
func (c *numbersCursor) Column(ctx *SQLiteContext, _ int) error {
	ctx.ResultInt(c.at)
	return nil
}

func twice(x int64) int64 { return 2 * x }

// connect opens a database in memory and registers its functions, as a program's hook
// does.
func connect(t *testing.T) *SQLiteConn {
	opened, err := (&SQLiteDriver{}).Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	c := opened.(*SQLiteConn)
	for i := range functionsEach {
		if err := c.RegisterFunc(fmt.Sprint("twice", i), twice, true); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// supply adds what the measured queries need.
func supply(t *testing.T, c *SQLiteConn) *SQLiteConn {
	var err error
	for name, module := range map[string]Module{"many": numbers(measuredRows), "none": numbers(0)} {
		if err == nil {
			err = c.CreateModule(name, module)
		}
		if err == nil {
			_, err = c.Exec(fmt.Sprintf("CREATE VIRTUAL TABLE %s_rows USING %s", name, name), nil)
		}
	}
	if err == nil {
		_, err = c.Exec(fmt.Sprintf("CREATE TABLE n(x); WITH RECURSIVE r(x) AS (VALUES(0) UNION ALL SELECT x+1 FROM r WHERE x<%d) "+
			"INSERT INTO n SELECT x FROM r", measuredRows-1), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ask returns a function that runs a query for a single integer, and checks it.
func ask(t *testing.T, c *SQLiteConn, query string, want int64) func() {
	s, err := c.Prepare(query)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return func() {
		rows, err := s.Query(nil)
		row := make([]driver.Value, 1)
		if err == nil {
			err = rows.Next(row)
		}
		if err != nil || row[0] != want {
			t.Errorf("%s: %v, %v, want %d", query, row[0], err, want)
		}
		if rows != nil {
			if err := rows.Next(row); err != io.EOF {
				t.Errorf("%s: no end: %v", query, err)
			}
			_ = rows.Close()
		}
	}
}

// measure times f, which does n operations, and prints the figure. It is the best of some
// stretches, since other load can only add to it.
func measure(name string, n int, f func()) {
	f()
	runtime.GC()
	best := math.Inf(1)
	for begin := time.Now(); time.Since(begin) < measured; {
		start, turns := time.Now(), 0
		for time.Since(start) < stretch {
			f()
			turns++
		}
		best = min(best, float64(time.Since(start))/float64(turns*n))
	}
	figure(name+", ns", best)
}

func figure(name string, x float64) { fmt.Printf("figure\t%s\t%f\n", name, x) }

func heap() float64 {
	for range 3 {
		runtime.GC()
		time.Sleep(time.Millisecond) // finalizers
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1024
}

func TestMeasureHandles(t *testing.T) {
	if os.Getenv("MEASURE_HANDLES") == "" {
		t.Skip("not asked for")
	}
	sum := int64(measuredRows) * (measuredRows - 1) / 2
	c := supply(t, connect(t))
	defer c.Close()

	call := ask(t, c, "SELECT sum(twice0(x)) FROM n", 2*sum)
	openClose := func() { _ = connect(t).Close() }
	handle := newHandle(c, twice)
	lookUp := func() {
		for range 1000 {
			if lookupHandle(handle) == nil {
				t.Fatal("the handle is refused")
			}
		}
	}

	measure("function, a call", measuredRows, call)
	measure("virtual table, a row", measuredRows, ask(t, c, "SELECT sum(n) FROM many_rows", sum))
	measure("virtual table, a query without rows", 1, ask(t, c, "SELECT count(*) FROM none_rows", 0))
	measure("open, 10 functions, close", 1, openClose)
	measure("the table alone: a look-up", 1000, lookUp)
	measure("the table alone: a handle made and deleted", 1, func() { deleteHandle(newHandle(c, twice)) })

	before := heap()
	conns := make([]*SQLiteConn, neighbours)
	for i := range conns {
		conns[i] = connect(t)
	}
	figure("heap of 1,000 connections, KiB", heap()-before)
	measure("function, a call, among 1,000 connections", measuredRows, call)
	measure("open, 10 functions, close, among 1,000 connections", 1, openClose)
	measure("the table alone: a look-up among 10,000", 1000, lookUp)
	start := time.Now()
	for i, c := range conns {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		conns[i] = nil
	}
	figure("close of 1,000 connections, ns each", float64(time.Since(start))/neighbours)
	figure("heap held after that, KiB", heap()-before)
	deleteHandle(handle)
}
