// Command sqlite puts the callback handles of github.com/mattn/go-sqlite3 on a pool, in a
// copy, runs that package's own tests on it, and measures the difference.
//
//	go -C bench/programs run ./sqlite
//
// It fetches the module with the go command, removes the functions of its table of handles
// by their names, and adds testdata/handles.go instead. Compiling SQLite twice, with
// testdata/measure_test.go, takes a minute or two. Other load hits both copies alike, since
// they are measured in alternating processes.
package main

import (
	_ "embed"

	"coatcheck/bench/programs/internal/patched"
)

//go:embed testdata/handles.go
var handles []byte

//go:embed testdata/measure_test.go
var measurement []byte

func main() {
	patched.Main(patched.Module{
		Path: "github.com/mattn/go-sqlite3", Version: "v1.14.53",
		Tags: "sqlite_vtable,sqlite_preupdate_hook,sqlite_unlock_notify,sqlite_math_functions",
		// The rest of the package calls these functions, and its tests read the variable.
		File: "callback.go", Cut: []string{"handleVals", "newHandle", "lookupHandleVal", "lookupHandle", "deleteHandle", "deleteHandles"},
		Added: handles, Measurement: measurement,
	})
}
