package epoch

import (
	"time"

	"coatcheck/internal/atom"
	"coatcheck/internal/bubble"
)

// ages tells how old guards are. A pin that reads a clock would take several times as long. So
// scans read it, and note:
//
//	each guard with an epoch below ended was pinned before since
//
// The naive way notes when a scan first finds the oldest epoch. While nothing is retired,
// guards come and go in one epoch, and the last of them would get the age of the first. So a
// scan notes an epoch only once it has ended, which is when NextEpoch is above it: a Pin that begins
// later has a greater epoch (L10). Guards with that epoch began before the clock was read.
//
// The clock of a bubble of package testing/synctest is another one (package bubble), so the two are
// kept apart. By the other clock a guard's age begins with the first Age. The clocks of two bubbles
// may show any times; then an age is too low, or that of another guard which was left pinned.
type ages struct {
	_ [32]byte // pins read the words from clock to most, which lie on other cache lines

	bubbled age // nothing writes it outside of tests
	real    age
}

// age is an epoch that ended, and when. Both words only grow, and since is raised first. So the
// since that is found with an ended is that of its note, or later, and an age that is computed from
// it is too low at most.
type age struct {
	// since is in nanoseconds of the clock.
	//
	//	writers  note, which only raises them
	//	readers  note and Age
	ended, since atom.Uint64
}

// started is when time began for now.
var started = time.Now()

func now() uint64 { return uint64(time.Since(started)) }

// read reads the clock.
func (d *Domain) read() (*age, uint64) {
	t := time.Now()
	if bubble.Read(t) {
		return &d.bubbled, uint64(t.UnixNano())
	}
	return &d.real, uint64(t.Sub(started))
}

// note notes the time if that epoch has ended and was not noted before, by either clock.
func (d *Domain) note(oldest uint64) {
	if oldest >= d.real.ended.Load() && oldest >= d.bubbled.ended.Load() && oldest < d.NextEpoch() {
		a, t := d.read()
		a.note(oldest, t)
	}
}

func (a *age) note(oldest, t uint64) {
	raise(&a.since, t)
	raise(&a.ended, oldest+1)
}

// Age returns for how long, at least, the oldest guard that a scan of d has found has been
// pinned. It returns 0 if the scan found none. The time begins with the first Scan that found the
// guard after something was retired under it, or with the first Age. Age retires nothing, but
// like Stamp it makes the next Pin begin another epoch. At the Limit of epochs it does not count.
func (d *Domain) Age(p Pins) time.Duration {
	if !timed {
		return 0
	}
	d.Stamp()
	a, t := d.read()
	if p.Oldest >= a.ended.Load() {
		if p.Oldest < d.NextEpoch() { // there is one, and its epoch is not the last
			a.note(p.Oldest, t)
		}
		return 0
	}
	began := a.since.Load() // before the clock is read, or a note between the two would be later
	if _, t = d.read(); t < began {
		return 0 // by the clock of an earlier bubble
	}
	return time.Duration(t - began)
}

// raise makes a word that only grows at least v. Failure of the compare-and-swap means that
// another goroutine has raised it.
func raise(word *atom.Uint64, v uint64) {
	for w := word.Load(); w < v && !word.CompareAndSwap(w, v); w = word.Load() {
	}
}
