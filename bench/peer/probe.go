package peer

import (
	"fmt"
	"runtime"
)

// Verdict is what became of a misuse.
type Verdict uint8

const (
	Untried Verdict = iota // there is nothing to try
	Refused                // the answer is no
	Panics                 // caught, by a panic
	Missed                 // not caught
)

// String says it as the report does.
func (v Verdict) String() string {
	switch v {
	case Untried:
		return "not tried"
	case Refused:
		return "caught"
	case Panics:
		return "caught, by a panic"
	case Missed:
		return "not caught"
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}

// Caught answers whether the misuse had no effect but its answer.
func (v Verdict) Caught() bool { return v == Refused || v == Panics }

// Findings are what Probe found out about a peer, by doing it.
type Findings struct {
	Stale  Verdict // a look-up of a value that was just removed
	Reused Verdict // the same beside a value that came later, Tried times or until it came back to life
	Double Verdict // the removal of a value that was just removed
	Late   Verdict // the same after its place was reused; missed too if another's value went with it
	Other  Verdict // a look-up in a store of a name of another store

	Reads  string // what a stale look-up that is not caught sees: "the old value", "another's value", "neither"
	Revive int    // after how many insertions a stale name that had been refused came back to life; 0: not within Tried
	Tried  int    // how many insertions were tried

	Allocs float64 // per insertion and removal
	Bytes  float64 // allocated per insertion and removal
}

// Figures writes the findings as figures with their units: 1 for what was caught, 0
// for what was not, nothing for what was not tried.
func (f *Findings) Figures() (figures []string) {
	for _, o := range []struct {
		verdict Verdict
		unit    string
	}{{f.Stale, "stale-caught"}, {f.Reused, "reused-caught"}, {f.Double, "double-caught"}, {f.Late, "late-caught"}, {f.Other, "other-caught"}} {
		switch {
		case o.verdict.Caught():
			figures = append(figures, "1 "+o.unit)
		case o.verdict == Missed:
			figures = append(figures, "0 "+o.unit)
		}
	}
	if f.Revive > 0 {
		figures = append(figures, fmt.Sprintf("%d insertions-to-revive", f.Revive))
	}
	return append(figures, fmt.Sprintf("%.5g B/op", f.Bytes), fmt.Sprintf("%.5g allocs/op", f.Allocs))
}

// Catches reports whether p did the job when it was misused: whether stale names and
// second removals were caught, at once and later.
func (f *Findings) Catches() bool {
	return f.Stale.Caught() && f.Reused.Caught() && f.Double.Caught() && f.Late.Caught()
}

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

// look looks a name up that is not live.
func (b *prober) look(i int) (id uint64, v Verdict) {
	defer func() {
		if recover() != nil {
			id, v = 0, Panics
		}
	}()
	id, ok := b.session.Look(b.ns, i)
	if ok {
		return id, Missed
	}
	return 0, Refused
}

// drop removes by a name that is not live.
func (b *prober) drop(i int) (v Verdict) {
	defer func() {
		if recover() != nil {
			v = Panics
		}
	}()
	if b.session.Drop(b.ns, i) {
		return Missed
	}
	return Refused
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
	_, f.Stale = b.look(stale)
	for i := 1; i <= tries; i++ {
		id := uint64(young + i)
		b.session.Put(b.ns, reuser, id)
		var seen uint64
		seen, f.Reused = b.look(stale)
		f.Tried = i
		if f.Reused == Missed {
			if f.Stale != Missed && f.Revive == 0 {
				f.Revive = i
			}
			switch seen {
			case old:
				f.Reads = "the old value" // so far
			case id:
				f.Reads = "another's value"
				return nil
			default:
				f.Reads = "neither"
				return nil
			}
		}
		if f.Reused == Panics && i == panics {
			return nil // a panic takes its time, and more of them find nothing out
		}
		if !b.session.Drop(b.ns, reuser) {
			return fmt.Errorf("a live value is removed: got false")
		}
	}
	return nil
}

// panics is how often Probe bears with a panic.
const panics = 1 << 12

// probeRemoval removes a value twice.
func (f *Findings) probeRemoval(b *prober, _ int) error {
	b.session.Put(b.ns, stale, 100)
	b.session.Drop(b.ns, stale)
	f.Double = b.drop(stale)
	if !f.Double.Caught() {
		return nil // the store is damaged, and must not be used any more
	}
	// What was refused had no effect: two that live now are two.
	b.session.Put(b.ns, 2, 200)
	b.session.Put(b.ns, 3, 300)
	if b.live(2, 200) != nil || b.live(3, 300) != nil {
		f.Double = Missed
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
			f.Late = Missed
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
	for i := range probed {
		if _, v := b.look(i); i == 0 || v == Missed {
			f.Other = v
		}
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
