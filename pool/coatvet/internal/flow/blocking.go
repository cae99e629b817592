package flow

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// waits are functions that may block for long, but for those that blocking tells by a pattern. A
// Mutex is not among them: values in a pool are meant to have one.
var waits = []string{
	"time.Sleep", "sync.WaitGroup.Wait", "sync.Cond.Wait", "golang.org/x/sync/errgroup.Group.Wait",
	"golang.org/x/sync/semaphore.Weighted.Acquire",
	"os/exec.Cmd.Run", "os/exec.Cmd.Wait", "os/exec.Cmd.Output", "os/exec.Cmd.CombinedOutput",
	"net/http.Get", "net/http.Head", "net/http.Post", "net/http.PostForm",
	"net/http.Client.Do", "net/http.Client.Get", "net/http.Client.Head", "net/http.Client.Post", "net/http.Client.PostForm",
	"crypto/tls.Conn.Read", "crypto/tls.Conn.Write", "crypto/tls.Conn.Handshake", "crypto/tls.Dial",
}

// blocking reports whether a call of fn, whose full name is name, may block for long.
func blocking(info *types.Info, call *ast.CallExpr, fn *types.Func, name string) bool {
	if fn == nil {
		return false
	}
	begins := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(fn.Name(), w) })
	}
	switch fn.Pkg().Path() {
	case "net":
		return begins("Dial", "Accept", "Lookup") || fn.Name() == "Read" || fn.Name() == "Write"
	case "database/sql":
		return begins("Query", "Exec", "Begin", "Ping", "Prepare", "Next") || fn.Name() == "Commit" || fn.Name() == "Rollback"
	case "io": // ReadFull, ReadAll or Copy of a connection
		return fn.Signature().Recv() == nil && slices.ContainsFunc(call.Args, func(a ast.Expr) bool {
			t := info.TypeOf(a)
			return t != nil && strings.Contains(t.String(), "net.") && strings.HasSuffix(t.String(), "Conn")
		})
	}
	return slices.Contains(waits, name)
}
