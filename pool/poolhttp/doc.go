// Package poolhttp shows the pools of a running program: on a page, in the manner of
// net/http/pprof, as JSON, through expvar, or through the collectors of
// coatcheck/pool/metrics, a module of its own.
//
//	conns := pool.Must[Conn](nil)
//	poolhttp.Register("conns", conns)
//	http.Handle("/debug/pools/", poolhttp.Handler())
//
// [RegisterSource] shows what is no pool but has a pool's figures: the outstanding calls of package
// pending, the values of a store of package dense, or a structure of the program's own.
//
// The page has a chart of each pool's slots over the last minutes. Nothing runs in the
// background for it. A sample is taken on each request for the page, which repeats it
// every two seconds, on each request for the JSON, and by [All] and [Vars]. The chart has
// a gap if there was no request for 70 seconds.
//
// A card is amber if a pin has lasted for a minute, or if limbo is half full while a pin has lasted
// for a second, or Refs are open for half of the limit. It is red if insertions were refused since the last sample or in the
// last minute. An amber or red card says what to do.
//
// A request costs one call of [pool.Pool.Stats] for each pool, which visits every slot
// that has memory. It visits those of a pending.Calls with Ages twice, for the age of its oldest call. The page and the JSON also show the stacks of the calls that pinned or opened
// what is open: with the build tag coatcheck_debug of all pools, and after [ShowStacks] of those
// with Options.TraceGuards. So restrict who may see them.
package poolhttp
