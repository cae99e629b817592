//go:build !race

package poolhttp_test

import (
	"encoding/json"
	"expvar"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"

	"coatcheck/pool"
	"coatcheck/pool/pending"
	"coatcheck/pool/poolhttp"
)

func coats(name string) *pool.Pool[string] {
	p := pool.Must(&pool.Options[string]{Capacity: 100, Origin: 1, Shards: 1})
	_, _ = p.Insert("umbrella")
	poolhttp.Register(name, p)
	return p
}

func ExampleHandler() {
	p := coats("coats")
	mux := http.NewServeMux()
	mux.Handle("/debug/pools/", poolhttp.Handler()) // the page, and pools.json beside it
	server := httptest.NewServer(mux)
	defer server.Close()

	answer, err := http.Get(server.URL + "/debug/pools/pools.json")
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	var pools map[string]struct {
		Type           string
		Live, Capacity int
	}
	fmt.Println(json.Unmarshal(text, &pools), pools["coats"], p.Len())
	// Output: <nil> {string 1 100} 1
}

func ExampleRegister() {
	poolhttp.Register("sessions", pool.Must[int](nil)) // nothing else refers to it, so it may be collected at once

	p := coats("wardrobe")
	fmt.Println(maps.Collect(poolhttp.All())["wardrobe"].Live, p.Len())
	// Output: 1 1
}

func ExampleUnregister() {
	p := coats("closed tonight")
	poolhttp.Unregister("closed tonight")
	_, shown := maps.Collect(poolhttp.All())["closed tonight"]
	fmt.Println(shown, p.Len())
	// Output: false 1
}

func ExampleAll() {
	p := coats("cloakroom")
	_, _ = p.Insert("scarf")
	for name, st := range poolhttp.All() {
		if name == "cloakroom" {
			fmt.Printf("%s: %d of %d\n", name, st.Live, st.Capacity)
		}
	}
	// Output: cloakroom: 2 of 100
}

// The figures are in /debug/vars, beside memstats.
func ExampleVars() {
	p := coats("hats")
	expvar.Publish("pools", expvar.Func(poolhttp.Vars))

	var pools map[string]pool.Stats
	err := json.Unmarshal([]byte(expvar.Get("pools").String()), &pools)
	fmt.Println(err, pools["hats"].Live, p.Len())
	// Output: <nil> 1 1
}

func ExampleRegisterSource() {
	calls := pending.Must[string](&pending.Options{Capacity: 100})
	poolhttp.RegisterSource("calls", calls)
	_, _ = calls.Start()

	st := maps.Collect(poolhttp.All())["calls"]
	fmt.Println(st.Live, "of", st.Capacity)
	runtime.KeepAlive(calls) // the registration does not
	// Output: 1 of 100
}
