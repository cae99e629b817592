package apps

import (
	"encoding/binary"

	"coatcheck/bench/peer"
)

// game runs the frames of a game, and writes a save file at the end. Ships have two to four guns,
// which fire at ships. Shots follow their targets. A ship that was hit too often is removed at the
// end of the frame, with its guns, and another takes its berth. Guns and shots may have a target
// that is gone.
//
// The order in which things are visited changes nothing, so all versions have the same result.
var game = App{
	ID:    "Game",
	Title: "Game: a frame of 20,000 ships, 60,000 guns and 125,000 shots",
	Alone: true,
	Saves: true,
	Versions: []Version{
		{peer.NamePool, played(func(ships int) world { return newPoolWorld(ships) })},
		{NameAll, played(func(ships int) world { return newAllWorld(ships) })},
		{NameForest, played(func(ships int) world { return newForestWorld(ships) })},
		{NamePointers, played(func(ships int) world { return newPointerWorld(ships) })},
		{peer.NameMap, played(func(ships int) world { return newMapWorld(ships) })},
		{peer.NameArk, played(func(ships int) world { return newArkWorld(ships) })},
	},
}

// world is the game on a contestant.
type world interface {
	move()
	fly()
	fire(frame uint64)
	endFrame()
	sum() uint64
	save() int // returns the bytes of the file
}

func played(open func(ships int) world) func(Load) Outcome {
	return func(l Load) Outcome {
		frames := max(l.share(100), 30)
		w := open(l.share(20_000))
		for frame := range uint64(frames) {
			w.move()
			w.fly()
			w.fire(frame)
			w.endFrame()
		}
		return Outcome{Ops: frames, Sum: w.sum(), Saved: w.save()}
	}
}

// drop removes an element, and puts the last one in its place.
func drop[E any](all []E, i int) []E {
	var zero E
	last := len(all) - 1
	all[i], all[last] = all[last], zero
	return all[:last]
}

// Point is a place or a speed.
type Point struct{ X, Y int32 }

// Hull is a ship.
type Hull struct {
	ID        uint64
	At, Speed Point
	Berth, HP int32
}

// newHull returns the ship with an identity. Ships that follow each other in a berth have
// identities as far apart as there are berths.
func newHull(id uint64, berths int) Hull {
	r := roll(id, 0)
	return Hull{ID: id, At: Point{int32(r & 0xfffff), int32(r >> 20 & 0xfffff)}, Speed: Point{int32(r>>40&15) - 7, int32(r>>44&15) - 7}, Berth: int32(id % uint64(berths)), HP: 40}
}

func (h *Hull) guns() int { return 2 + int(h.ID%3) }

func (h *Hull) step() { h.At = Point{(h.At.X + h.Speed.X) & 0xfffff, (h.At.Y + h.Speed.Y) & 0xfffff} }

// word is the ship's part of the sum.
func (h *Hull) word(shield int32) uint64 {
	return roll(h.ID^uint64(h.At.X)<<40^uint64(h.At.Y)<<20, uint64(h.HP)<<32|uint64(shield))
}

// Gun is a gun of a ship.
type Gun struct {
	ID     uint64
	Reload int32
}

func newGun(ship uint64, i int) Gun {
	id := roll(ship, uint64(i)+1)
	return Gun{ID: id, Reload: int32(id % 20)}
}

// step reports whether the gun fires.
func (g *Gun) step() bool {
	if g.Reload--; g.Reload > 0 {
		return false
	}
	g.Reload = 16 + int32(g.ID&7)
	return true
}

// pick returns the berth of a new target.
func (g *Gun) pick(frame uint64, berths int) int { return int(roll(g.ID, frame) % uint64(berths)) }

// Flight is a shot.
type Flight struct {
	At, Speed Point
	Life      int32
}

func newFlight(from, to Point) Flight {
	return Flight{At: from, Speed: Point{(to.X - from.X) / 64, (to.Y - from.Y) / 64}, Life: 42}
}

// follow steers towards a target.
func (f *Flight) follow(at Point) {
	f.Speed.X += (at.X - f.At.X - f.Speed.X*f.Life) >> 8
	f.Speed.Y += (at.Y - f.At.Y - f.Speed.Y*f.Life) >> 8
}

// step moves the shot, and reports whether it is at its end.
func (f *Flight) step() bool {
	f.At.X, f.At.Y = f.At.X+f.Speed.X, f.At.Y+f.Speed.Y
	f.Life--
	return f.Life <= 0
}

const (
	damage     = 10
	fullShield = 12
)

// hit damages a ship. It reports whether that ended it.
func hit(hp, shield *int32) bool {
	was, absorbed := *hp, min(damage, *shield)
	*shield -= absorbed
	*hp -= damage - absorbed
	return was > 0 && *hp <= 0
}

func roll(a, b uint64) uint64 {
	x := (a ^ b*0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	return (x ^ x>>29) * 0x94d049bb133111eb >> 3
}

// file is a save file that is written by hand.
type file []byte

func (f *file) word(v uint64)    { *f = binary.LittleEndian.AppendUint64(*f, v) }
func (f *file) half(v int32)     { *f = binary.LittleEndian.AppendUint32(*f, uint32(v)) }
func (f *file) point(p Point)    { f.half(p.X); f.half(p.Y) }
func (f *file) small(v int32)    { *f = append(*f, byte(v)) }
func (f *file) flight(s *Flight) { f.point(s.At); f.point(s.Speed); f.small(s.Life) }
func (f *file) gun(g *Gun)       { f.word(g.ID); f.small(g.Reload) }
func (f *file) hull(h *Hull, shield int32) {
	f.word(h.ID)
	f.point(h.At)
	f.point(h.Speed)
	f.half(h.HP)
	f.small(shield)
}
