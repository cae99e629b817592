package apps

import (
	"io"

	"coatcheck/pool"
	"coatcheck/pool/dense"
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

// poolWorld has ships in a pool, and guns and shots side by side in dense stores. What is removed
// goes at the end of the frame, so pointers need no guard.
type poolWorld struct {
	ships  *pool.Pool[Ship]
	guns   *dense.Store[Turret]
	shots  *dense.Store[Shot]
	berths []pool.Handle[Ship]
	ended  []pool.Handle[Ship]
}

func newPoolWorld(ships int) *poolWorld {
	w := &poolWorld{
		ships:  pool.Must[Ship](nil),
		guns:   dense.Must(&dense.Options[Turret]{Unordered: true}),
		shots:  dense.Must(&dense.Options[Shot]{Unordered: true}),
		berths: make([]pool.Handle[Ship], ships),
	}
	for i := range ships {
		w.launch(newHull(uint64(ships+i), ships))
	}
	w.guns.Refresh()
	return w
}

func (w *poolWorld) launch(hull Hull) {
	ship := inserted(w.ships.InsertFunc(func(_ pool.Handle[Ship], s *Ship) { s.Hull, s.Shield = hull, fullShield }))
	w.berths[hull.Berth] = ship
	for i := range hull.guns() {
		inserted(w.guns.Create(Turret{Gun: newGun(hull.ID, i), Ship: ship}))
	}
}

func (w *poolWorld) move() {
	for _, h := range w.berths {
		ship, _ := w.ships.Pointer(h)
		ship.step()
		ship.Shield = min(ship.Shield+1, fullShield)
	}
}

func (w *poolWorld) fire(frame uint64) {
	guns, names := w.guns.Values(), w.guns.Handles()
	for i := range guns {
		g := &guns[i]
		if !g.step() {
			continue
		}
		ship, ok := w.ships.Pointer(g.Ship)
		if !ok {
			w.guns.Kill(names[i])
			continue
		}
		target, ok := w.ships.Pointer(g.Target)
		if !ok {
			g.Target = w.berths[g.pick(frame, len(w.berths))]
			target, _ = w.ships.Pointer(g.Target)
		}
		inserted(w.shots.Create(Shot{newFlight(ship.At, target.At), g.Target}))
	}
}

func (w *poolWorld) fly() {
	shots, names := w.shots.Values(), w.shots.Handles()
	for i := range shots {
		s := &shots[i]
		target, live := w.ships.Pointer(s.Target)
		if live {
			s.follow(target.At)
		}
		if !s.step() {
			continue
		}
		w.shots.Kill(names[i])
		if live && hit(&target.HP, &target.Shield) {
			w.ended = append(w.ended, s.Target)
		}
	}
}

func (w *poolWorld) endFrame() {
	for _, h := range w.ended {
		ship, _ := w.ships.Take(h)
		w.launch(newHull(ship.ID+uint64(len(w.berths)), len(w.berths)))
	}
	w.ended = w.ended[:0]
	w.guns.Refresh()
	w.shots.Refresh()
}

func (w *poolWorld) sum() (sum uint64) {
	for _, h := range w.berths {
		ship, _ := w.ships.Pointer(h)
		sum += ship.word(ship.Shield)
	}
	return sum + uint64(w.shots.Len())
}

func (w *poolWorld) save() int { return written(w.ships, w.guns, w.shots) }

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
