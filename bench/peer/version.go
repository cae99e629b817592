package peer

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// module returns what the module of that path is, with the version that this
// program was built with; the bare path where the program doesn't know, as some
// tests don't.
func module(path string) string {
	if v := versions()[path]; v != "" {
		return path + " " + v
	}
	return path
}

// standard returns what something of the standard library is.
func standard(what string) string { return what + " of " + runtime.Version() }

var versions = sync.OnceValue(func() map[string]string {
	vs := make(map[string]string)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			vs[m.Path] = m.Version
		}
	}
	return vs
})
