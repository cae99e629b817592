package pool_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// A garbage collection at any moment of a Worker's last operation must not give
// its slots back under it. Each operation is the last mention of its Worker; a
// helper collects all the time, and InsertFunc and Reset collect in the middle.
// It catches a method without KeepAlive.
func TestGCInsideWorkersLastOperation(t *testing.T) {
	p := tiny(t, &pool.Options[stamp]{Shards: 1, Reset: func(v *stamp) { v.id = 0 }})
	q := tiny(t, &pool.Options[stamp]{Shards: 1})
	stop := testkit.Collect()
	for i := range testkit.Long(1500) {
		for _, p := range []*pool.Pool[stamp]{p, q} {
			hs := testkit.Fill(t, p, 48, func(k int) stamp { return stamp{id: uint64(k + 1)} })
			w := p.Worker()
			_, err := w.Insert(stamp{id: 99})
			require.NoError(t, err)
			for _, h := range hs[1:] {
				require.True(t, w.Remove(h), "the value should be live")
			}
			switch i % 5 {
			case 0:
				require.True(t, w.Remove(hs[0]), "the value should be live") // the bag is full
			case 1:
				v, ok := w.Take(hs[0])
				require.True(t, ok, "the value should be live")
				require.EqualValues(t, 1, v.id)
			case 2:
				_, err := w.InsertFunc(func(_ pool.Handle[stamp], v *stamp) {
					v.self = v
					runtime.GC()
					h := testkit.MustInsert(t, p, stamp{id: 5})
					require.True(t, p.Remove(h), "the value should be live")
					require.Equal(t, v, v.self, "the slot was given back under init")
				})
				require.NoError(t, err)
			case 3:
				h, err := w.Insert(stamp{id: 6})
				require.NoError(t, err)
				require.EqualValues(t, 6, p.MustGet(h).id)
			case 4:
				w.Flush()
			}
			p.Clear()
		}
	}
	stop()
	for _, p := range []*pool.Pool[stamp]{p, q} {
		testkit.Eventually(t, func() bool { return p.Stats().Cached == 0 }, "dropped Workers")
		st := testkit.RequireReclaimed(t, p)
		require.Equal(t, st.Allocated, st.Free)
	}
}

// TestResetClosesTheWorker: a removal succeeds though its Reset closes the Worker.
func TestResetClosesTheWorker(t *testing.T) {
	var w *pool.Worker[int]
	closed := false
	p := pool.Must(&pool.Options[int]{Shards: 1, Reset: func(*int) {
		closed = true
		w.Close()
	}})
	w = p.Worker()
	live := testkit.Fill(t, p, 400, testkit.Number)
	for _, h := range live[1:] {
		require.True(t, w.Remove(h), "the value should be live")
	}
	for !closed {
		h, err := w.Insert(1)
		require.NoError(t, err)
		require.True(t, p.Contains(h), "the insertion goes on")
	}
	testkit.RequirePanicText(t, func() { _, _ = w.Insert(1) }, "closed")
	testkit.RequireConserved(t, p)
}

// TestMethodsKeepTheirWorker: a method of Worker that uses the slots keeps the Worker alive up to each
// return, or defers that. Otherwise the last use of the Worker may come before the last use of its slots,
// and dropped gives them back in between. A collection hardly ever comes at that moment, so this
// reads the source.
func TestMethodsKeepTheirWorker(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "worker.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	users := 0
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv == nil || types.ExprString(fn.Recv.List[0].Type) != "*Worker[T]" || fn.Name.Name == "Close" { // Close ends the life
			continue
		}
		used, keeps, uses := false, false, false // uses: since the Worker was kept
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IfStmt:
				return types.ExprString(n.Cond) != "debugging"
			case *ast.DeferStmt:
				keeps = keeps || types.ExprString(n.Call) == "runtime.KeepAlive(w)"
				return false
			case *ast.CallExpr:
				uses = uses && types.ExprString(n) != "runtime.KeepAlive(w)"
			case *ast.SelectorExpr:
				if s := types.ExprString(n); s == "w.slots" || s == "w.ready" {
					used, uses = true, true
				}
			case *ast.ReturnStmt:
				require.True(t, keeps || !uses, "%s returns, and does not keep the Worker", fn.Name.Name)
			}
			return true
		})
		require.True(t, keeps || !uses, "%s ends, and does not keep the Worker", fn.Name.Name)
		if used {
			users++
		}
	}
	require.Equal(t, 7, users, "methods that use the slots")
}
