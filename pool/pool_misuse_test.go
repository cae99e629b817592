package pool_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// requireMisuse requires that every method of x panics with these texts, but for some. A
// loop that a method returns is begun.
func requireMisuse(t *testing.T, x any, except []string, texts ...string) {
	t.Helper()
	v := reflect.ValueOf(x)
	for i := range v.NumMethod() {
		name := v.Type().Method(i).Name
		if slices.Contains(except, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			testkit.RequirePanicText(t, func() {
				for _, result := range called(v.Method(i)) {
					if result.Kind() == reflect.Func {
						called(result)
					}
				}
			}, texts...)
		})
	}
}

// called calls f with arguments that a correct program could use.
func called(f reflect.Value) []reflect.Value {
	args := make([]reflect.Value, f.Type().NumIn())
	for i := range args {
		args[i] = argument(f.Type().In(i))
	}
	return f.Call(args)
}

func argument(of reflect.Type) reflect.Value {
	v := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.Uint64: // a Handle
		v.SetUint(1 << 32)
	case reflect.Int:
		v.SetInt(1)
	case reflect.Slice:
		v = reflect.Append(v, argument(of.Elem()))
	case reflect.Func:
		v = reflect.MakeFunc(of, func([]reflect.Value) (results []reflect.Value) {
			for i := range of.NumOut() {
				results = append(results, reflect.Zero(of.Out(i)))
			}
			return results
		})
	case reflect.Interface:
		for _, arg := range []any{context.Background(), io.Discard} {
			if a := reflect.ValueOf(arg); a.Type().Implements(of) {
				v.Set(a)
			}
		}
	}
	return v
}

func TestZeroPoolPanics(t *testing.T) {
	requireMisuse(t, new(pool.Pool[int]), nil, "zero ", "Pool", "make one with New")
	q := pool.Ptr[int]{Pool: new(pool.Pool[int]), Handle: 1 << 32}
	for _, use := range []func(){func() { q.Live() }, func() { q.Remove() }, func() { q.View(func(*int) {}) }} {
		testkit.RequirePanicText(t, use, "zero", "make one with New")
	}
	require.Panics(t, func() { q.Get() }) // as a use of nil
	testkit.RequirePanicText(t, func() { new(pool.Pool[int]).RemoveBatch(nil) }, "zero", "make one with New")
}

func TestZeroPtrFindsNothing(t *testing.T) {
	var q pool.Ptr[int]
	assert.False(t, q.Live(), "a zero Ptr should name nothing")
	assert.False(t, q.Remove(), "a zero Ptr should have no value to remove")
	assert.False(t, q.View(func(*int) {}), "a zero Ptr should have no value to view")
	_, ok := q.Get()
	assert.False(t, ok, "a zero Ptr should have no value")
}

func TestClosedWorkerPanics(t *testing.T) {
	p := pool.Must[int](nil)
	h := testkit.MustInsert(t, p, 1)
	closed := p.Worker()
	closed.Close()
	closed.Close()
	requireMisuse(t, closed, []string{"Close"}, "pool: ", "Worker")
	require.Panics(t, func() { _, _ = new(pool.Worker[int]).Insert(1) })
	testkit.RequirePanicText(t, new(pool.Worker[int]).Flush, "pool: use of a Worker")
	testkit.RequirePanicText(t, func() { new(pool.Worker[int]).Take(h) }, "pool: use of a Worker")
	require.Equal(t, 1, p.MustGet(h))
	require.Zero(t, p.Stats().Cached)
}

// A copy's Unpin panics too, and ends no other guard's pin, which may be in the same cell.
func TestGuardMisusePanics(t *testing.T) {
	p := pool.Must[int](nil)
	var zero, copied pool.Guard[int]
	unpinned := p.Pin()
	copyGuard(&copied, &unpinned)
	unpinned.Unpin()
	other := p.Pin()
	for _, g := range []*pool.Guard[int]{&zero, &unpinned} {
		requireMisuse(t, g, []string{"Unpin"}, "pool: ", "Guard", "not pinned")
	}
	for _, g := range []*pool.Guard[int]{&zero, &copied, &unpinned} {
		testkit.RequirePanicText(t, g.Unpin, "pool: Unpin of a guard that is not pinned (unpinned before, through a copy, or a zero Guard)")
	}
	require.Equal(t, 1, p.Stats().Pinned)
	other.Unpin()
}

func TestRefMisusePanics(t *testing.T) {
	const text = "pool: use of a Ref after Release"
	p := pool.Must[int](nil)
	h := testkit.MustInsert(t, p, 7)
	r := mustHold(t, p, h)
	r.Release()
	requireMisuse(t, r, []string{"Handle"}, text)
	require.Equal(t, h, r.Handle())
	requireMisuse(t, new(pool.Ref[int]), nil, text, "Pool.Hold")
	require.Zero(t, p.Stats().Held, "a second Release let another's hold go")
	require.True(t, p.Remove(h), "the value should be live")
}

func TestReservationSettlesOnce(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Capacity: 3})
	for _, settle := range []func(*pool.Reservation[int]){
		func(r *pool.Reservation[int]) { r.Commit() }, (*pool.Reservation[int]).Cancel,
	} {
		r := mustReserve(t, p)
		h := r.Handle()
		settle(r)
		requireMisuse(t, r, []string{"Handle"}, "pool: ", "Reservation")
		require.Equal(t, h, r.Handle(), "Handle stays readable")
		p.Clear()
		require.Zero(t, testkit.RequireReclaimed(t, p).Reserved)
	}
	requireMisuse(t, new(pool.Reservation[int]), nil, "pool: ", "Reserve")
}

// The last words of a program in which Each panics have the stack of f.
func TestEachTellsWhereItPanicked(t *testing.T) {
	out, ok := testkit.Run(t, exec.Command(os.Args[0], "-test.run=^TestEachPanics$", "-test.v"))
	require.False(t, ok, "it ended well:\n%s", out)
	require.Contains(t, out, "panic: pool: Each: f panicked in a goroutine of its own:")
	require.Contains(t, out, "panicsInEach")
	require.Contains(t, out, "panic: just so")
}

func TestEachPanics(t *testing.T) {
	if len(os.Args) != 3 || os.Args[1] != "-test.run=^TestEachPanics$" {
		t.Skip("for TestEachTellsWhereItPanicked")
	}
	p := pool.Must[int](nil)
	testkit.MustInsert(t, p, 1)
	_ = p.Each(context.Background(), 1, func(pool.Handle[int], *int) error { panicsInEach(); return nil })
}

//go:noinline
func panicsInEach() { panic("just so") }

// Two goroutines that use a Worker at once hear of it, though no fast half looks. The process ends
// as its memory is not to be trusted.
func TestSharedWorkerIsNoticed(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 {
		t.Skip("they would hardly meet")
	}
	program := filepath.Join(t.TempDir(), "sharedworker")
	out, err := exec.Command("go", "build", "-o", program, "./testdata/sharedworker").CombinedOutput()
	require.NoError(t, err, "%s", out)
	told, printed := 0, ""
	for range 5 {
		ctx, cancel := testkit.Limited(t)
		printed, _ = testkit.Run(t, exec.CommandContext(ctx, program))
		cancel()
		if strings.HasPrefix(printed, "panic: pool: two goroutines use a Worker at once\n") {
			told++
		}
	}
	require.Positive(t, told, "of 5 runs, the last of which printed %s", printed)
}
