package simulate

import (
	"math/bits"
	"unsafe"
)

// Cache lines move between caches by MESI. A line is
//
//	invalid        in no cache, only in memory
//	owned          in one cache, whose processor may write it (exclusive or modified)
//	shared         in several caches, whose processors may read it
//
// A processor without the right for its access requests a transfer, whose time depends on
// the distance to the caches that have the line. A line is in one transfer at a time. A
// request during a transfer waits at its destination, so it only takes the last part of the
// way (Costs.Queued).

// Kind is a kind of access.
type Kind uint8

const (
	Load   Kind = iota
	Store       // a release store, or a plain one: goes to a buffer
	Locked      // a locked instruction; on amd64 an atomic store is one
)

// lineShift is the binary logarithm of a line's bytes.
const lineShift = 6

// ahead is the most that a processor may be ahead of the others when it accesses a line in
// its cache. It is less than a transfer, and saves many switches between processors.
const ahead = picoseconds(20_000)

// most is the largest number of processors of a machine.
const most = 256

type line struct {
	holders [most / 64]uint64 // processors whose caches have it
	owner   int               // the processor that may write it, or nobody
	free    picoseconds       // the end of the last transfer
}

const nobody = -1

func (l *line) has(id int) bool { return l.holders[id/64]>>(id%64)&1 != 0 }
func (l *line) add(id int)      { l.holders[id/64] |= 1 << (id % 64) }

// line returns the line of a number.
func (m *Machine) line(number uintptr) *line {
	recent := &m.recent[number%uintptr(len(m.recent))]
	if recent.line == nil || recent.number != number {
		l := m.lines[number]
		if l == nil {
			l = &line{owner: nobody}
			m.lines[number] = l
		}
		recent.number, recent.line = number, l
	}
	return recent.line
}

// Access charges the running processor for an access to a word. Processors with earlier
// clocks run first.
func Access(kind Kind, word unsafe.Pointer) {
	if running != nil {
		running.access(kind, uintptr(word)>>lineShift)
	}
}

// Plain charges it for an access to n bytes, each line once.
func Plain(kind Kind, at unsafe.Pointer, n uintptr) {
	if running == nil || n == 0 {
		return
	}
	for i := uintptr(at) >> lineShift; i <= (uintptr(at)+n-1)>>lineShift; i++ {
		running.access(kind, i)
	}
}

// Allocate charges it for so many bytes of new memory.
func Allocate(bytes uintptr) {
	if running != nil {
		running.now += duration(running.machine.Fresh * float64(bytes) / 1024)
	}
}

// Work charges it for other work, in nanoseconds.
func Work(nanoseconds float64) {
	if running != nil {
		running.now += duration(nanoseconds)
	}
}

// access charges p for an access. A processor requests a line at its turn, and lines are
// granted in that order. It reads or writes the line at its next turn after the line has
// arrived.
func (p *Processor) access(kind Kind, number uintptr) {
	if kind == Locked && p.now < p.drained {
		p.now = p.drained
	}
	l, c := p.machine.line(number), &p.machine.costs
	if kind != Locked && (l.owner == p.id || kind == Load && l.has(p.id)) {
		p.turn(ahead)
	} else {
		p.turn(0)
	}
	begin := p.now
	switch kind {
	case Load:
		p.Loads++
		if l.has(p.id) {
			p.now += c.hit
		} else {
			way := p.distance(l)
			if stride := number - p.lastLoad; stride == p.stride && stride != 0 {
				way /= c.overlap
			}
			p.now = p.arrives(p.now, l, way)
			if l.owner != nobody {
				l.owner, l.free = nobody, p.now // others find it in a shared cache
			}
			l.add(p.id)
		}
		p.stride, p.lastLoad = number-p.lastLoad, number
	case Store:
		p.Stores++
		p.now += c.hit
		if l.owner != p.id {
			p.drained = max(p.drained, p.arrives(p.now, l, p.distance(l)))
			l.take(p, p.drained)
		}
	case Locked:
		p.Locked++
		if l.owner == p.id {
			p.now += c.locked
			break
		}
		p.now = p.arrives(p.now, l, p.distance(l)) + c.locked
		l.take(p, p.now)
	}
	if p.now-begin > ahead {
		p.turn(0)
	}
}

// take makes p the owner of the line and invalidates all other copies.
func (l *line) take(p *Processor, at picoseconds) {
	l.holders = [len(l.holders)]uint64{}
	l.add(p.id)
	l.owner, l.free = p.id, at
}

// arrives returns when a requested line arrives over a distance, which varies at random:
// otherwise periodic programs fall into step, as no real ones do.
func (p *Processor) arrives(asked picoseconds, l *line, way picoseconds) picoseconds {
	way += way * (picoseconds(p.machine.random()%512) - 256) / 1024
	if l.free > asked {
		return l.free + picoseconds(float64(way)*p.machine.Queued)
	}
	return asked + way
}

// distance returns the time of the transfer that p needs, and counts it.
func (p *Processor) distance(l *line) (way picoseconds) {
	c := &p.machine.costs
	for i, holders := range l.holders {
		for ; holders != 0; holders &= holders - 1 {
			id := i*64 + bits.TrailingZeros64(holders)
			switch {
			case id == p.id:
			case id/p.machine.Socket != p.id/p.machine.Socket:
				way = max(way, c.far)
			case id/p.machine.Cluster != p.id/p.machine.Cluster:
				way = max(way, c.transfer)
			default:
				way = max(way, c.near)
			}
		}
	}
	if way == 0 && !l.has(p.id) {
		p.Misses++
		return c.memory
	}
	if way > 0 {
		p.Transfers++
	}
	return way
}
