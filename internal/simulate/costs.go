package simulate

import "flag"

// Costs are the costs of accesses, in nanoseconds. docs/many-processors.md names the sources.
type Costs struct {
	Hit    float64 // a load of a line in the cache, or a store into the buffer
	Locked float64 // a locked instruction on a line in the cache

	Near     float64 // a transfer within a cluster
	Transfer float64 // a transfer within a socket
	Far      float64 // a transfer between sockets
	Memory   float64 // a line that is in no cache
	Queued   float64 // the part of a transfer between two waiting processors
	Overlap  float64 // transfers at a time of loads at a constant stride

	Cluster int // processors that are near each other; 1: none are
	Socket  int // processors in a socket

	Fresh float64 // a KiB of newly allocated memory, zeroed

	Yield float64 // runtime.Gosched without another goroutine to run
	Spin  float64 // one round of a mutex's spinning
	Park  float64 // parking a goroutine, or making one runnable
	Wake  float64 // the delay until a woken goroutine runs

	Scattered bool // stacks are anywhere, as in a long-running program, and not side by side
}

// Server returns figures for a server processor: published ones, except Queued, Yield, Spin,
// Park, Wake and Fresh, which are fitted or guessed.
func Server() Costs {
	return Costs{
		Hit: 0.5, Locked: 5.5,
		Near: 17, Transfer: 80, Far: 140, Memory: 120, Queued: 0.18, Overlap: 8,
		Cluster: 1, Socket: most,
		Fresh: 100,
		Yield: 100, Spin: 1200, Park: 300, Wake: 5000,
		Scattered: true,
	}
}

// Flags defines a flag for each cost.
func (c *Costs) Flags(set *flag.FlagSet) {
	for _, f := range []struct {
		at    *float64
		name  string
		usage string
	}{
		{&c.Hit, "hit", "`ns` of a load of a line at hand"},
		{&c.Locked, "locked", "`ns` of a locked instruction on a line at hand"},
		{&c.Near, "near", "`ns` of a transfer within a cluster"},
		{&c.Transfer, "transfer", "`ns` of a transfer within a socket"},
		{&c.Far, "far", "`ns` of a transfer between sockets"},
		{&c.Memory, "memory", "`ns` until a line is there that no cache has"},
		{&c.Queued, "queued", "`part` of a transfer by which waiting processors get a line one after the other"},
		{&c.Overlap, "overlap", "`number` of transfers that a run of loads at a steady stride has under way"},
		{&c.Fresh, "fresh", "`ns` of a KiB of new memory"},
		{&c.Yield, "yield", "`ns` of letting others run"},
		{&c.Spin, "spin", "`ns` of a round of a mutex's spinning"},
		{&c.Park, "park", "`ns` of putting a goroutine to sleep, or having one woken"},
		{&c.Wake, "wake", "`ns` until a goroutine that is woken runs"},
	} {
		set.Float64Var(f.at, f.name, *f.at, f.usage)
	}
	set.IntVar(&c.Cluster, "cluster", c.Cluster, "`number` of processors that are near each other")
	set.IntVar(&c.Socket, "socket", c.Socket, "`number` of processors in a socket")
	set.BoolVar(&c.Scattered, "scattered", c.Scattered, "goroutines' stacks lie anywhere, not side by side")
}
