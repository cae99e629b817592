package peer

import (
	"fmt"
	"runtime"
)

// Findings are what Probe found out about a peer, by doing it: whether a misuse was
// caught, by an answer or a panic, and had no other effect.
type Findings struct {
	Stale  bool // a look-up of a value that was just removed
	Reused bool // the same beside values that came later
	Double bool // the removal of a value that was just removed
	Late   bool // the same after its place was reused; not if another's value went with it
	Other  bool // a look-up in a store of a name of another store

	Revive int // after how many insertions a stale name that had been refused came back to life; 0: not within those that were tried

	Allocs float64 // per insertion and removal
	Bytes  float64 // allocated per insertion and removal
}

// Figures writes the findings as figures with their units: 1 for what was caught.
func (f *Findings) Figures() (figures []string) {
	for _, o := range []struct {
		caught bool
		unit   string
	}{{f.Stale, "stale-caught"}, {f.Reused, "reused-caught"}, {f.Double, "double-caught"}, {f.Late, "late-caught"}, {f.Other, "other-caught"}} {
		figure := 0
		if o.caught {
			figure = 1
		}
		figures = append(figures, fmt.Sprint(figure, " ", o.unit))
	}
	if f.Revive > 0 {
		figures = append(figures, fmt.Sprint(f.Revive, " insertions-to-revive"))
	}
	return append(figures, fmt.Sprintf("%.5g B/op", f.Bytes), fmt.Sprintf("%.5g allocs/op", f.Allocs))
}

// Catches reports whether p did the job when it was misused: whether stale names and
// second removals were caught, at once and later.
func (f *Findings) Catches() bool { return f.Stale && f.Reused && f.Double && f.Late }

// Tries is how many values Probe should insert and remove to bring a stale name back
// to life. Most peers put each into the place of the one before, so a generation of 16
// bits is found out; one of 32 would take minutes.
const Tries = 1 << 17

// Probe misuses p and says what came of it, with so many tries to bring a stale name
// back to life. It takes some tens of milliseconds. An error is one of Open, or says
// that p gives wrong answers to right use.
func Probe[R any](p Peer[R], tries int) (f Findings, err error) {
	for _, probe := range []func(*Findings, *prober, int) error{
		(*Findings).probeLookUps, (*Findings).probeRemoval, (*Findings).probeLateRemoval,
		(*Findings).probeOther, (*Findings).probeAllocations,
	} {
		var b prober
		if b.store, err = p.Open(Config[R]{Live: probed, Sessions: 2}); err != nil {
			return f, err
		}
		if b.other, err = p.Open(Config[R]{Live: probed, Sessions: 2}); err != nil {
			return f, err
		}
		b.session = b.store.Session()
		b.ns = b.session.Names(probed)
		err = probe(&f, &b, tries)
		b.session.Close()
		b.store.Close()
		b.other.Close()
		if err != nil {
			return f, fmt.Errorf("peer: probing %s: %w", p.Name, err)
		}
	}
	return f, nil
}

// prober is what a probe works with: a fresh store, and another of the same kind.
type prober struct {
	store, other Store
	session      Session
	ns           Names
}

// probed is how many values a probe has room for.
const probed = 8

// look looks a name up that is not live, and reports whether that was caught.
func (b *prober) look(i int) (caught bool) {
	defer func() { caught = caught || recover() != nil }()
	_, ok := b.session.Look(b.ns, i)
	return !ok
}

// drop removes by a name that is not live.
func (b *prober) drop(i int) (caught bool) {
	defer func() { caught = caught || recover() != nil }()
	return !b.session.Drop(b.ns, i)
}

// live checks that place i holds id.
func (b *prober) live(i int, id uint64) error {
	if got, ok := b.session.Look(b.ns, i); !ok || got != id {
		return fmt.Errorf("a live value is looked up: got %d, %v; want %d", got, ok, id)
	}
	return nil
}

const (
	stale  = 0 // the place whose name is stale
	reuser = 1 // the place whose values reuse its place
)

// probeLookUps removes a value and looks its name up, at once and after others have
// lived in its place.
func (f *Findings) probeLookUps(b *prober, tries int) error {
	const old, young = 100, 1 << 20
	b.session.Put(b.ns, stale, old)
	if err := b.live(stale, old); err != nil {
		return err
	}
	if !b.session.Drop(b.ns, stale) {
		return fmt.Errorf("a live value is removed: got false")
	}
	f.Stale, f.Reused = b.look(stale), true
	for i := 1; i <= tries && f.Reused; i++ {
		b.session.Put(b.ns, reuser, uint64(young+i))
		if f.Reused = b.look(stale); !f.Reused && f.Stale {
			f.Revive = i
		}
		if f.Reused && !b.session.Drop(b.ns, reuser) {
			return fmt.Errorf("a live value is removed: got false")
		}
	}
	return nil
}

// probeRemoval removes a value twice.
func (f *Findings) probeRemoval(b *prober, _ int) error {
	b.session.Put(b.ns, stale, 100)
	b.session.Drop(b.ns, stale)
	f.Double = b.drop(stale)
	if !f.Double {
		return nil // the store is damaged, and must not be used any more
	}
	// What was refused had no effect: two that live now are two.
	b.session.Put(b.ns, 2, 200)
	b.session.Put(b.ns, 3, 300)
	if b.live(2, 200) != nil || b.live(3, 300) != nil {
		f.Double = false
	}
	return nil
}

// probeLateRemoval removes a value again when its place has been given to others,
// each of whom it might take instead.
func (f *Findings) probeLateRemoval(b *prober, _ int) error {
	b.session.Put(b.ns, stale, 100)
	b.session.Drop(b.ns, stale)
	for i := 1; i < probed; i++ {
		b.session.Put(b.ns, i, uint64(100+i))
	}
	f.Late = b.drop(stale)
	for i := 1; i < probed; i++ {
		if b.live(i, uint64(100+i)) != nil {
			f.Late = false
		}
	}
	return nil
}

// probeOther shows names of one store to another that has as many values.
func (f *Findings) probeOther(b *prober, _ int) error {
	others := b.other.Session()
	defer others.Close()
	ns := others.Names(probed)
	others.Fill(ns, 500)
	b.session.Fill(b.ns, 100)
	mine := b.ns
	defer func() { b.ns = mine }()
	b.ns = ns
	f.Other = true
	for i := range probed {
		f.Other = b.look(i) && f.Other
	}
	return nil
}

// probeAllocations counts what insertions and removals allocate, the least of some
// rounds, because the rest of the process allocates too.
func (f *Findings) probeAllocations(b *prober, _ int) error {
	const pairs, rounds = 1000, 5
	b.session.Pairs(pairs, 1) // whatever is allocated once
	for i := range rounds {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		failed := b.session.Pairs(pairs, 1)
		runtime.ReadMemStats(&after)
		if failed != 0 {
			return fmt.Errorf("%d of %d live values could not be removed", failed, pairs)
		}
		allocs := float64(after.Mallocs-before.Mallocs) / pairs
		if bytes := float64(after.TotalAlloc-before.TotalAlloc) / pairs; i == 0 || bytes < f.Bytes {
			f.Allocs, f.Bytes = allocs, bytes
		}
	}
	return nil
}
