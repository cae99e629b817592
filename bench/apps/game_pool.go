package apps

import (
	"io"

	"coatcheck/pool"
)

// Ship is 48 bytes, so that all ships stay in the cache: each shot looks at one.
type Ship struct {
	Hull
	Shield int32
}

// Turret is a gun. It finds by itself that its ship is gone.
type Turret struct {
	Gun
	Ship, Target pool.Handle[Ship]
}

// Shot is a shot at a ship.
type Shot struct {
	Flight
	Target pool.Handle[Ship]
}

// fleet has ships in a pool, because guns and shots refer to them. They are removed at the end of the frame, so
// pointers need no guard.
type fleet struct {
	ships  *pool.Pool[Ship]
	berths []pool.Handle[Ship]
	ended  []pool.Handle[Ship]
}

// newFleet makes a fleet of so many ships, which launch puts into berths.
func newFleet(ships int) fleet {
	return fleet{ships: pool.Must[Ship](nil), berths: make([]pool.Handle[Ship], ships)}
}

func (f *fleet) launch(hull Hull) pool.Handle[Ship] {
	ship := inserted(f.ships.InsertFunc(func(_ pool.Handle[Ship], s *Ship) { s.Hull, s.Shield = hull, fullShield }))
	f.berths[hull.Berth] = ship
	return ship
}

func (f *fleet) move() {
	for _, h := range f.berths {
		ship, _ := f.ships.Pointer(h)
		ship.step()
		ship.Shield = min(ship.Shield+1, fullShield)
	}
}

// replace takes out each ship that ended in the frame. For each, launch puts in a new one.
func (f *fleet) replace(launch func(Hull)) {
	for _, h := range f.ended {
		ship, _ := f.ships.Take(h)
		launch(newHull(ship.ID+uint64(len(f.berths)), len(f.berths)))
	}
	f.ended = f.ended[:0]
}

func (f *fleet) sum() (sum uint64) {
	for _, h := range f.berths {
		ship, _ := f.ships.Pointer(h)
		sum += ship.word(ship.Shield)
	}
	return sum
}

// poolWorld has its ships in a pool alone. Nothing refers to a gun or a shot, so they are in slices.
type poolWorld struct {
	fleet
	guns  []Turret
	shots []Shot
}

func newPoolWorld(ships int) *poolWorld {
	w := &poolWorld{fleet: newFleet(ships)}
	for i := range ships {
		w.launch(newHull(uint64(ships+i), ships))
	}
	return w
}

func (w *poolWorld) launch(hull Hull) {
	ship := w.fleet.launch(hull)
	for i := range hull.guns() {
		w.guns = append(w.guns, Turret{Gun: newGun(hull.ID, i), Ship: ship})
	}
}

func (w *poolWorld) fire(frame uint64) {
	for i := 0; i < len(w.guns); i++ {
		g := &w.guns[i]
		if g.step() {
			ship, ok := w.ships.Pointer(g.Ship)
			if !ok { // it goes with its ship
				w.guns = drop(w.guns, i)
				i--
				continue
			}
			target, ok := w.ships.Pointer(g.Target)
			if !ok {
				g.Target = w.berths[g.pick(frame, len(w.berths))]
				target, _ = w.ships.Pointer(g.Target)
			}
			w.shots = append(w.shots, Shot{newFlight(ship.At, target.At), g.Target})
		}
	}
}

func (w *poolWorld) fly() {
	for i := 0; i < len(w.shots); {
		s := &w.shots[i]
		target, live := w.ships.Pointer(s.Target)
		if live {
			s.follow(target.At)
		}
		if !s.step() {
			i++
			continue
		}
		if live && hit(&target.HP, &target.Shield) {
			w.ended = append(w.ended, s.Target)
		}
		w.shots = drop(w.shots, i)
	}
}

func (w *poolWorld) endFrame() { w.replace(w.launch) }

func (w *poolWorld) sum() uint64 { return w.fleet.sum() + uint64(len(w.shots)) }

func (w *poolWorld) save() int {
	var f file
	for i := range w.guns {
		g := &w.guns[i]
		f.gun(&g.Gun)
		f.word(uint64(g.Ship))
		f.word(uint64(g.Target))
	}
	for i := range w.shots {
		f.flight(&w.shots[i].Flight)
		f.word(uint64(w.shots[i].Target))
	}
	return written(w.ships) + len(f)
}

// written writes snapshots, and returns their bytes.
func written(parts ...io.WriterTo) int {
	var all int64
	for _, part := range parts {
		n, err := part.WriteTo(io.Discard)
		if err != nil {
			panic(err)
		}
		all += n
	}
	return int(all)
}
