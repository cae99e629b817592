// Package poolhttp shows the pools of a running program: to people on a page, in the
// manner of net/http/pprof, and to others as JSON, through expvar, or through the
// collectors of coatcheck/pool/metrics, a module of its own.
//
//	conns := pool.Must[Conn](nil)
//	poolhttp.Register("conns", conns)
//	http.Handle("/debug/pools/", poolhttp.Handler())
//
// The page has a chart of each pool's slots over the last minutes. Nothing runs in
// the background for it: the pools are looked at when somebody asks, for the page,
// which asks again every two seconds, for the JSON, or by [All] or [Vars]. Where
// nobody asked for more than a minute, the chart has a gap.
//
// Asking costs one call of [pool.Pool.Stats] for each pool, which looks at every slot
// that has memory. In a program that is built with the tag coatcheck_debug the page and
// the JSON also tell who holds what, with stacks, so show it to those who may see
// them.
package poolhttp
