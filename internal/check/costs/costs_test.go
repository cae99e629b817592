//go:build coatcheck_costs

package costs

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/internal/cost"
	"coatcheck/pool"
)

type (
	value   [2]uint64
	options = pool.Options[value]
	handle  = pool.Handle[value]
	guard   = pool.Guard[value]
)

// program is what a test draws.
type program struct {
	opts    options
	guards  int // how many are pinned at once, at most
	when    when
	waiting int // how many values are removed under a guard before the calls that are judged, which ends then
	workers int
	burst   int  // how many values each Worker inserts, and then removes, at the end
	pins    bool // each request pins
	held    bool // a Ref stands, so each slot that passes is visited
	once    bool // all guards are unpinned at once, and not the oldest first
	renews  bool // each request unpins the oldest guard, and pins another
	calls   int
}

// when says when the guards are pinned.
type when uint8

const (
	old   when = iota // before all removals
	young             // after what waits was removed, and again now and then
	apart             // one after the other, with removals between
)

func (p *program) String() string {
	o := &p.opts
	return fmt.Sprintf("Origin=%d Capacity=%d MaxLimbo=%d Shards=%d FIFO=%t Preallocate=%t Reset=%t guards=%d/%d waiting=%d workers=%d/%d pins=%t held=%t once=%t renews=%t calls=%d",
		o.Origin, o.Capacity, o.MaxLimbo, o.Shards, o.Reuse == pool.FIFO, o.Preallocate, o.Reset != nil, p.guards, p.when, p.waiting, p.workers, p.burst, p.pins, p.held, p.once, p.renews, p.calls)
}

// judge counts what calls did and cost.
type judge struct {
	t    *testing.T
	name fmt.Stringer

	pool     *pool.Pool[value]
	shards   int64
	cells    int64 // that a scan visits, at most
	visits   int64 // of slots, that each slot pays for in one call
	unsorted int64 // slots that were removed, and that perhaps no call has sorted

	removed, inserted, refused int64
	before                     int64 // slots that waited before these
	sum                        cost.Steps
}

// Bounds of the package comment.
const (
	batch     = 64
	bag       = 4096 // a Worker gives so many slots away at once
	sealed    = 256  // so many a batch has that a seal made, but where others hold the lock
	freeCells = 256  // a search visits so many in each shard without having saved for them
)

// scan is the most cells that a scan visits.
func (j *judge) scan() int64 { return j.cells }

// measure sees how many cells a scan visits. Pins that come one by one may double that until it is asked again.
func (j *judge) measure() {
	j.pool.Stats() // which clears marks
	before := cost.Sum()
	j.pool.Stats()
	j.cells = max(j.cells, 2*(cost.Sum().Cells-before.Cells)+64)
}

// paid is the most removals that pay for a round.
func (j *judge) paid() int64 { return max(batch, j.scan()/2) }

func (j *judge) must(ok bool) {
	if !ok {
		require.True(j.t, ok, "%v", j.name)
	}
}

func (j *judge) check(what string, got, limit int64) {
	if got <= limit {
		return // require takes a microsecond
	}
	require.LessOrEqual(j.t, got, limit, "%s, after %d removals and %d insertions: %v", what, j.removed, j.inserted, j.name)
}

// removal judges a call that removes n values, one by one or by a Worker, which may give away its bag. Only a
// Worker's scans, for what it keeps.
func (j *judge) removal(n int64, worker bool, call func()) {
	before := cost.Sum()
	call()
	d := j.add(before)
	j.removed += n
	j.unsorted += n
	if !worker {
		j.check("cells of a removal", d.Cells, 0)
		j.check("slots of a removal", d.Slots, 0)
		j.check("batches of a removal", d.Batches, 0)
		return
	}
	j.check("cells of a Worker's removal", d.Cells, 4*j.scan())
	j.check("slots of a Worker's removal", d.Slots, 2*bag)
	j.check("batches of a Worker's removal", d.Batches, j.scan()+bag)
}

// insertion judges a call that inserts, and reports whether it was not refused.
func (j *judge) insertion(call func() error) bool {
	before := cost.Sum()
	err := call()
	d := j.add(before)
	j.inserted++
	what := "of an insertion"
	if err != nil {
		require.True(j.t, errors.Is(err, pool.ErrFull), "%v", err)
		what = "of a refusal"
		j.refused++
	}
	rounds := 2 * (j.shards + 1)
	j.check("cells "+what, d.Cells, 4*j.scan()+2*freeCells*rounds)
	j.check("slots "+what, d.Slots, 4*j.unsorted+8*j.paid()*rounds+sealed*rounds)
	j.check("batches "+what, d.Batches, 8*(j.paid()*rounds+j.scan())+j.before)
	if err != nil {
		j.unsorted = 0 // a refusal sorts all
	}
	return err == nil
}

func (j *judge) add(before cost.Steps) (d cost.Steps) {
	d = difference(before, cost.Sum())
	j.sum.Cells += d.Cells
	j.sum.Slots += d.Slots
	j.sum.Batches += d.Batches
	j.sum.Locks += d.Locks
	return d
}

// end judges the sum of all calls.
func (j *judge) end() {
	search := int64(64)
	if j.scan() <= 3*freeCells { // there may have been as few as are free
		search = 2 * freeCells * (j.shards + 1)
	}
	scans := 8 * (j.shards + 1) * j.scan() // the first, for which nobody has saved
	j.check("all cells", j.sum.Cells, 48*j.removed+search*j.inserted+4*j.scan()*j.refused+scans)
	j.check("all slots", j.sum.Slots, 8*(j.removed+j.before)+scans)
	j.check("all batches", j.sum.Batches, 8*(j.removed+j.before)+j.shards*j.inserted+8*j.scan()*j.refused+scans)
	j.check("all locks", j.sum.Locks, j.removed/16+8*j.shards*j.inserted+1000)
}

// run runs a program.
func (p *program) run(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector has values zeroed, which scans
	o := p.opts
	live := 200
	if o.Capacity > 0 {
		o.Capacity = max(o.Capacity, live+2*p.waiting+4*p.guards)
	}
	if o.MaxLimbo > 0 {
		o.MaxLimbo = max(o.MaxLimbo, 2*(live+p.waiting+p.calls))
	}
	c := &run{judge: judge{t: t, name: p, pool: pool.Must(&o), shards: int64(o.Shards), visits: 8}, program: p}
	if o.Reset != nil {
		c.visits = 24
	}
	c.measure()
	for range p.workers {
		c.workers = append(c.workers, c.pool.Worker())
	}
	c.hs = testkit.Fill(t, c.pool, live, func(i int) value { return value{uint64(i)} })
	if p.held {
		ref, ok := c.pool.Hold(testkit.MustInsert(t, c.pool, value{}))
		require.True(t, ok, "the value should be live")
		defer ref.Release()
	}
	if p.when == old {
		c.pin(p.guards)
	}
	if p.waiting > 0 {
		c.leave(p.waiting)
	}
	if p.when == young {
		c.pin(p.guards)
	}
	for i := range p.calls {
		c.request(i)
		switch {
		case p.when == apart && len(c.open) < p.guards:
			c.pin(1)
		case p.when == young && (i+1)%(p.calls/4) == 0:
			c.unpin(len(c.open))
			c.pin(p.guards)
		}
	}
	for i := 0; len(c.open) > 0; i++ { // the oldest first
		if p.once {
			c.unpinAll()
		} else {
			c.unpin((len(c.open) + 63) / 64)
		}
		c.request(i)
	}
	c.unpinAll()
	for i := range 200 {
		c.request(i)
	}
	if p.burst > 0 && o.Capacity == 0 {
		for range 8 {
			c.bursts(p.burst)
		}
	}
	if o.Capacity > 0 {
		c.full()
	}
	c.end()
	if o.Shards == 1 {
		c.settle()
	}
}

// run is a program under way.
type run struct {
	judge
	program *program
	workers []*pool.Worker[value]
	hs      []handle
	open    []guard
}

func (c *run) pin(n int) {
	for range n {
		c.open = append(c.open, c.pool.Pin())
	}
	if k := len(c.open); n > 1 || k&(k-1) == 0 || k%64 == 0 {
		c.measure()
	}
}

func (c *run) unpin(n int) {
	for i := range n {
		c.open[i].Unpin()
	}
	c.open = c.open[n:]
}

// unpinAll unpins all guards. Stats then scans, so that later scans find few cells.
func (c *run) unpinAll() {
	c.unpin(len(c.open))
	require.Zero(c.t, c.pool.Stats().Pinned)
	c.end()
	c.removed, c.inserted, c.refused, c.sum = 0, 0, 0, cost.Steps{}
	if o := &c.program.opts; o.Origin == 0 || o.Shards > 1 {
		c.cells = 0 // a pool that replays goes by the guards that its last scan found
	}
	c.measure()
	c.before = c.unsorted + int64(c.pool.Stats().Limbo)
}

// leave removes n values under a guard, each in an epoch of its own.
func (c *run) leave(n int) {
	g := c.pool.Pin()
	c.measure()
	for range n {
		h := testkit.MustInsert(c.t, c.pool, value{})
		if c.program.pins {
			brief := c.pool.Pin()
			brief.Unpin()
		}
		c.removal(1, false, func() { c.must(c.pool.Remove(h)) })
		c.inserted++
	}
	g.Unpin()
}

// request replaces a value.
func (c *run) request(i int) {
	k := i % len(c.hs)
	if c.program.pins {
		g := c.pool.Pin()
		g.Pointer(c.hs[k])
		g.Unpin()
	}
	if c.program.renews && len(c.open) > 0 {
		c.unpin(1)
		c.open = append(c.open, c.pool.Pin())
	}
	if w := i % (len(c.workers) + 1); w > 0 {
		w := c.workers[w-1]
		c.removal(1, true, func() { c.must(w.Remove(c.hs[k])) })
		c.insertion(func() (err error) { c.hs[k], err = w.Insert(value{}); return err })
	} else {
		c.removal(1, false, func() { c.must(c.pool.Remove(c.hs[k])) })
		c.insertion(func() (err error) { c.hs[k], err = c.pool.Insert(value{}); return err })
	}
	if c.hs[k].IsZero() { // it was refused
		c.unpin(len(c.open))
		c.insertion(func() (err error) { c.hs[k], err = c.pool.Insert(value{}); return err })
	}
	c.must(!c.hs[k].IsZero())
}

// bursts has each Worker insert n values, and then remove them.
func (c *run) bursts(n int) {
	hs := make([]handle, n)
	for _, w := range c.workers {
		for k := range hs {
			c.insertion(func() (err error) { hs[k], err = w.Insert(value{}); return err })
		}
		for _, h := range hs {
			c.removal(1, true, func() { c.must(w.Remove(h)) })
		}
	}
	if c.program.waiting+c.program.guards == 0 { // the next burst finds what this one leaves
		most := len(c.hs) + 1 + len(c.workers)*(n+2*bag) + 2*batch*int(c.shards)
		c.check("slots of bursts", int64(c.pool.Stats().Allocated), 2*int64(most))
	}
}

// full fills the pool, and then removes values under guards of many times, whose ends free what each
// delays.
func (c *run) full() {
	for _, w := range c.workers {
		w.Flush()
	}
	for c.insertion(func() error {
		h, err := c.pool.Insert(value{})
		if err == nil {
			c.hs = append(c.hs, h)
		}
		return err
	}) {
	}
	n := min(max(c.program.guards, 1), 400)
	each := (len(c.hs) - 50) / n
	for range n {
		c.pin(1)
		for range each {
			h := c.hs[len(c.hs)-1]
			c.hs = c.hs[:len(c.hs)-1]
			c.removal(1, false, func() { c.must(c.pool.Remove(h)) })
		}
	}
	for range n {
		c.insertion(func() error { _, err := c.pool.Insert(value{}); return err })
		c.unpin(1)
		for range each / 2 {
			c.insertion(func() error { _, err := c.pool.Insert(value{}); return err })
		}
	}
}

// settle requires that insertions into a pool without guards find all that waits, however much there is, before
// they make new memory.
func (c *run) settle() {
	for _, w := range c.workers {
		w.Flush()
	}
	before := c.pool.Stats()
	for range before.Limbo + before.Free - int(c.shards)*2*batch {
		c.insertion(func() error { _, err := c.pool.Insert(value{}); return err })
	}
	require.Equal(c.t, before.Allocated, c.pool.Stats().Allocated, "slots wait for nothing: %v", c.name)
}

// known are programs of which each found a defect. The numbers of guards are such that a mutant that takes
// the cure out passes a bound many times over.
var known = map[string]program{
	"batches that are joined": {opts: options{Capacity: 500, Shards: 1}, guards: 60_000, pins: true, calls: 150_000},
	"a Worker beside guards":  {opts: options{Shards: 1}, guards: 10_000, workers: 1, calls: 10_000},
	"a Worker's bursts":       {opts: options{Shards: 1, MaxLimbo: 10_000_000}, workers: 1, burst: 60_000, held: true, calls: 4},
	"batches that pass":       {opts: options{MaxLimbo: 100, Shards: 1, Reuse: pool.FIFO}, guards: 10_000, when: apart, once: true, pins: true, calls: 10_100},
	"batches in a fixed list": {opts: options{Capacity: 200_000, Preallocate: true, Shards: 1}, guards: 400, when: apart, calls: 1000},
	"replays, batches":        {opts: options{Origin: 1, Capacity: 500, Shards: 1}, guards: 10_000, pins: true, calls: 10_000},
	"replays, guards renewed": {opts: options{Origin: 1, MaxLimbo: 100, Shards: 1}, guards: 10_000, renews: true, calls: 60_000},
	"replays, a Worker":       {opts: options{Origin: 1, Shards: 1}, guards: 10_000, renews: true, workers: 1, calls: 60_000},
	"Resets, guards renewed":  {opts: options{Capacity: 500, Shards: 1, Reset: func(*value) {}}, guards: 10_000, renews: true, calls: 60_000},
	"Resets of a few calls":   {opts: options{Shards: 1, Reset: func(*value) {}}, guards: 10_000, when: young, calls: 4000},
	"Resets":                  {opts: options{Shards: 1, Reset: func(*value) {}}, guards: 10_000, when: young, calls: 100_000},
}

func TestKnownProgramsCostWhatTheyPayFor(t *testing.T) {
	for name, p := range known {
		t.Run(name, func(t *testing.T) { p.run(t) })
	}
}

// draw draws a program.
func draw(rnd *rand.Rand) *program {
	pick := func(of ...int) int { return of[rnd.IntN(len(of))] }
	p := &program{
		guards: pick(0, 1, 10, 100, 1000, 10_000), when: when(rnd.IntN(3)), waiting: pick(0, 0, 500, 5000, 30_000),
		workers: pick(0, 0, 1, 3), burst: pick(0, 1000, 30_000), pins: rnd.IntN(2) > 0, held: rnd.IntN(4) == 0, once: rnd.IntN(2) > 0, renews: rnd.IntN(4) == 0, calls: pick(1000, 4000, 20_000),
	}
	p.opts.Shards = pick(1, 1, 2, 4)
	switch rnd.IntN(3) {
	case 0:
		p.opts.Capacity = pick(500, 50_000)
		p.opts.Preallocate = rnd.IntN(2) > 0
	case 1:
		p.opts.MaxLimbo = 100
	}
	if rnd.IntN(3) == 0 {
		p.opts.Reuse = pool.FIFO
	}
	if rnd.IntN(4) == 0 {
		p.opts.Reset = func(*value) {}
	}
	if rnd.IntN(3) == 0 {
		p.opts.Origin = 1 // it replays, if it has one shard
	}
	return p
}

// TestCallsCostWhatTheyPayFor runs drawn programs.
func TestCallsCostWhatTheyPayFor(t *testing.T) {
	rnd := testkit.Rand(t)
	n := *programs
	if n == 0 {
		n = testkit.Long(40)
	}
	for range n {
		draw(rnd).run(t)
	}
}

var programs = flag.Int("programs", 0, "how many programs TestCallsCostWhatTheyPayFor draws; 0: some")
