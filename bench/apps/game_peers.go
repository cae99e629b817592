package apps

// pointerShip is a ship behind pointers. gone says that it was removed, since a pointer does not
// tell.
type pointerShip struct {
	Hull
	shield int32
	gone   bool
	guns   []*pointerGun
}

type pointerGun struct {
	Gun
	ship, target *pointerShip
}

type pointerShot struct {
	Flight
	target *pointerShip
}

type pointerWorld struct {
	berths []*pointerShip
	shots  []pointerShot
	ended  []*pointerShip
}

func newPointerWorld(ships int) *pointerWorld {
	w := &pointerWorld{berths: make([]*pointerShip, ships)}
	for i := range ships {
		w.launch(newHull(uint64(ships+i), ships))
	}
	return w
}

func (w *pointerWorld) launch(hull Hull) {
	ship := &pointerShip{Hull: hull, shield: fullShield}
	for i := range hull.guns() {
		ship.guns = append(ship.guns, &pointerGun{Gun: newGun(hull.ID, i), ship: ship})
	}
	w.berths[hull.Berth] = ship
}

func (w *pointerWorld) move() {
	for _, ship := range w.berths {
		ship.step()
		ship.shield = min(ship.shield+1, fullShield)
	}
}

func (w *pointerWorld) fire(frame uint64) {
	for _, ship := range w.berths {
		for _, g := range ship.guns {
			if !g.step() {
				continue
			}
			if g.target == nil || g.target.gone {
				g.target = w.berths[g.pick(frame, len(w.berths))]
			}
			w.shots = append(w.shots, pointerShot{newFlight(ship.At, g.target.At), g.target})
		}
	}
}

func (w *pointerWorld) fly() {
	for i := 0; i < len(w.shots); {
		s := &w.shots[i]
		if !s.target.gone {
			s.follow(s.target.At)
		}
		if !s.step() {
			i++
			continue
		}
		if !s.target.gone && hit(&s.target.HP, &s.target.shield) {
			w.ended = append(w.ended, s.target)
		}
		w.shots = drop(w.shots, i)
	}
}

func (w *pointerWorld) endFrame() {
	for _, ship := range w.ended {
		ship.gone, ship.guns = true, nil
		w.launch(newHull(ship.ID+uint64(len(w.berths)), len(w.berths)))
	}
	clear(w.ended)
	w.ended = w.ended[:0]
}

func (w *pointerWorld) sum() (sum uint64) {
	for _, ship := range w.berths {
		sum += ship.word(ship.shield)
	}
	return sum + uint64(len(w.shots))
}

// save names ships by their berths.
func (w *pointerWorld) save() int {
	var f file
	name := func(ship *pointerShip) {
		if ship == nil || ship.gone {
			f.half(-1)
		} else {
			f.half(ship.Berth)
		}
	}
	for _, ship := range w.berths {
		f.hull(&ship.Hull, ship.shield)
		for _, g := range ship.guns {
			f.gun(&g.Gun)
			name(g.target)
		}
	}
	for i := range w.shots {
		f.flight(&w.shots[i].Flight)
		name(w.shots[i].target)
	}
	return len(f)
}

type mapShip struct {
	Hull
	shield int32
	guns   []mapGun
}

type mapGun struct {
	Gun
	target uint64
}

type mapShot struct {
	Flight
	target uint64
}

// mapWorld has ships in a map, by their identities.
type mapWorld struct {
	ships  map[uint64]*mapShip
	berths []uint64
	shots  []mapShot
	ended  []uint64
}

func newMapWorld(ships int) *mapWorld {
	w := &mapWorld{ships: map[uint64]*mapShip{}, berths: make([]uint64, ships)}
	for i := range ships {
		w.launch(newHull(uint64(ships+i), ships))
	}
	return w
}

func (w *mapWorld) launch(hull Hull) {
	ship := &mapShip{Hull: hull, shield: fullShield}
	for i := range hull.guns() {
		ship.guns = append(ship.guns, mapGun{Gun: newGun(hull.ID, i)})
	}
	w.ships[hull.ID] = ship
	w.berths[hull.Berth] = hull.ID
}

func (w *mapWorld) move() {
	for _, ship := range w.ships {
		ship.step()
		ship.shield = min(ship.shield+1, fullShield)
	}
}

func (w *mapWorld) fire(frame uint64) {
	for _, ship := range w.ships {
		for i := range ship.guns {
			g := &ship.guns[i]
			if !g.step() {
				continue
			}
			target := w.ships[g.target]
			if target == nil {
				g.target = w.berths[g.pick(frame, len(w.berths))]
				target = w.ships[g.target]
			}
			w.shots = append(w.shots, mapShot{newFlight(ship.At, target.At), g.target})
		}
	}
}

func (w *mapWorld) fly() {
	for i := 0; i < len(w.shots); {
		s := &w.shots[i]
		target := w.ships[s.target]
		if target != nil {
			s.follow(target.At)
		}
		if !s.step() {
			i++
			continue
		}
		if target != nil && hit(&target.HP, &target.shield) {
			w.ended = append(w.ended, s.target)
		}
		w.shots = drop(w.shots, i)
	}
}

func (w *mapWorld) endFrame() {
	for _, id := range w.ended {
		delete(w.ships, id)
		w.launch(newHull(id+uint64(len(w.berths)), len(w.berths)))
	}
	w.ended = w.ended[:0]
}

func (w *mapWorld) sum() (sum uint64) {
	for _, ship := range w.ships {
		sum += ship.word(ship.shield)
	}
	return sum + uint64(len(w.shots))
}

func (w *mapWorld) save() int {
	var f file
	for _, ship := range w.ships {
		f.hull(&ship.Hull, ship.shield)
		for i := range ship.guns {
			f.gun(&ship.guns[i].Gun)
			f.word(ship.guns[i].target)
		}
	}
	for i := range w.shots {
		f.flight(&w.shots[i].Flight)
		f.word(w.shots[i].target)
	}
	return len(f)
}
