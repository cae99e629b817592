package apps

import "coatcheck/pool"

// allWorld has everything in pools: also guns and shots, to which nothing refers.
type allWorld struct {
	ships  *pool.Pool[Ship]
	guns   *pool.Pool[Turret]
	shots  *pool.Pool[Shot]
	berths []pool.Handle[Ship]
	ended  []pool.Handle[Ship]
}

func newAllWorld(ships int) *allWorld {
	w := &allWorld{
		ships: pool.Must[Ship](nil), guns: pool.Must[Turret](nil), shots: pool.Must[Shot](nil),
		berths: make([]pool.Handle[Ship], ships),
	}
	for i := range ships {
		w.launch(newHull(uint64(ships+i), ships))
	}
	return w
}

func (w *allWorld) launch(hull Hull) {
	ship := inserted(w.ships.InsertFunc(func(_ pool.Handle[Ship], s *Ship) { s.Hull, s.Shield = hull, fullShield }))
	w.berths[hull.Berth] = ship
	for i := range hull.guns() {
		inserted(w.guns.Insert(Turret{Gun: newGun(hull.ID, i), Ship: ship}))
	}
}

func (w *allWorld) move() {
	for _, h := range w.berths {
		ship, _ := w.ships.Pointer(h)
		ship.step()
		ship.Shield = min(ship.Shield+1, fullShield)
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

func (w *allWorld) endFrame() {
	for _, h := range w.ended {
		ship, _ := w.ships.Take(h)
		w.launch(newHull(ship.ID+uint64(len(w.berths)), len(w.berths)))
	}
	w.ended = w.ended[:0]
}

func (w *allWorld) sum() (sum uint64) {
	for _, h := range w.berths {
		ship, _ := w.ships.Pointer(h)
		sum += ship.word(ship.Shield)
	}
	return sum + uint64(w.shots.Len())
}

func (w *allWorld) save() int { return written(w.ships, w.guns, w.shots) }
