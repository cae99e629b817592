package apps

import "coatcheck/pool"

// allWorld has everything in pools: also guns and shots, to which nothing refers.
type allWorld struct {
	fleet
	guns  *pool.Pool[Turret]
	shots *pool.Pool[Shot]
}

func newAllWorld(ships int) *allWorld {
	w := &allWorld{fleet: newFleet(ships), guns: pool.Must[Turret](nil), shots: pool.Must[Shot](nil)}
	for i := range ships {
		w.launch(newHull(uint64(ships+i), ships))
	}
	return w
}

func (w *allWorld) launch(hull Hull) {
	ship := w.fleet.launch(hull)
	for i := range hull.guns() {
		inserted(w.guns.Insert(Turret{Gun: newGun(hull.ID, i), Ship: ship}))
	}
}

func (w *allWorld) fire(frame uint64) {
	pin := w.guns.Pin()
	defer pin.Unpin()
	for h, g := range pin.All() {
		if !g.step() {
			continue
		}
		ship, ok := w.ships.Pointer(g.Ship)
		if !ok {
			w.guns.Remove(h) // it goes with its ship
			continue
		}
		target, ok := w.ships.Pointer(g.Target)
		if !ok {
			g.Target = w.berths[g.pick(frame, len(w.berths))]
			target, _ = w.ships.Pointer(g.Target)
		}
		inserted(w.shots.Insert(Shot{newFlight(ship.At, target.At), g.Target}))
	}
}

func (w *allWorld) fly() {
	pin := w.shots.Pin()
	defer pin.Unpin()
	for h, s := range pin.All() {
		target, live := w.ships.Pointer(s.Target)
		if live {
			s.follow(target.At)
		}
		if !s.step() {
			continue
		}
		w.shots.Remove(h)
		if live && hit(&target.HP, &target.Shield) {
			w.ended = append(w.ended, s.Target)
		}
	}
}

func (w *allWorld) endFrame() { w.replace(w.launch) }

func (w *allWorld) sum() uint64 { return w.fleet.sum() + uint64(w.shots.Len()) }

func (w *allWorld) save() int { return written(w.ships, w.guns, w.shots) }
