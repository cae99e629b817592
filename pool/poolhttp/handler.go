package poolhttp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path"
)

// Handler returns a handler that shows the registered pools. It serves a page at any path that
// ends in a slash, and the figures as JSON at pools.json beside it:
//
//	http.Handle("/debug/pools/", poolhttp.Handler())
//
// The JSON is an object with a member for each pool, by its name. Each member has the fields of
// [pool.Stats] and the Type of the values. With pending.Options.Ages it has OldestAge, in nanoseconds. With the build tag coatcheck_debug, or after [ShowStacks]
// for a pool with Options.TraceGuards, it also has Open, the text of [pool.Pool.ExplainOpen].
func Handler() http.Handler { return http.HandlerFunc(serve) }

func serve(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	var err error
	header := w.Header()
	_, file := path.Split(r.URL.Path)
	switch {
	case file != "" && file != "pools.json":
		http.NotFound(w, r)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	case file == "pools.json":
		header.Set("Content-Type", "application/json; charset=utf-8")
		encoder := json.NewEncoder(&b)
		encoder.SetIndent("", "\t")
		err = encoder.Encode(Vars())
	default:
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", policy)
		err = render(&b)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(b.Bytes()) // an error means that the client disconnected
}
