package epoch

import (
	"time"

	"coatcheck/internal/atom"
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
// Both words only grow, and since is raised first. So the since that is found with an ended is
// that of its note, or later, and an age that is computed from it is too low at most.
type ages struct {
	_ [48]byte // pins read the words from clock to most, which lie on other cache lines

	// since is in nanoseconds of now.
	//
	//	writers  note, for Scan and Age, which only raises them
	//	readers  Scan and Age
	ended, since atom.Uint64
}

// started is when time began for now.
var started = time.Now()

func now() uint64 { return uint64(time.Since(started)) }

// note notes the time if that epoch has ended and was not noted before.
func (d *Domain) note(oldest uint64) {
	if oldest >= d.ended.Load() && oldest < d.NextEpoch() {
		raise(&d.since, now())
		raise(&d.ended, oldest+1)
	}
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
	d.note(p.Oldest)
	if p.Oldest >= d.ended.Load() {
		return 0 // there is none, or the epoch is the last
	}
	since := d.since.Load() // before the clock is read, or a note between the two would be later
	return time.Duration(now() - since)
}

// raise makes a word that only grows at least v. Failure of the compare-and-swap means that
// another goroutine has raised it.
func raise(word *atom.Uint64, v uint64) {
	for w := word.Load(); w < v && !word.CompareAndSwap(w, v); w = word.Load() {
	}
}
