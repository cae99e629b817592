package apps

import "github.com/mlange-42/ark/ecs"

type arkGun struct {
	Gun
	ship, target ecs.Entity
}

type arkShot struct {
	Flight
	target ecs.Entity
}

type arkShield struct{ left int32 }

type arkGuns struct {
	all [4]ecs.Entity
	n   int
}

// arkWorld has ships, guns and shots as entities. While a query runs the world is locked, so new
// entities and those that go wait for its end.
type arkWorld struct {
	world  *ecs.World
	ships  *ecs.Map3[Hull, arkShield, arkGuns]
	hulls  *ecs.Map1[Hull]
	shield *ecs.Map1[arkShield]
	guns   *ecs.Map1[arkGun]
	shots  *ecs.Map1[arkShot]

	everyShip *ecs.Filter2[Hull, arkShield]
	everyGun  *ecs.Filter1[arkGun]
	everyShot *ecs.Filter1[arkShot]

	berths      []ecs.Entity
	fired       []arkShot
	gone, ended []ecs.Entity
}

func newArkWorld(ships int) *arkWorld {
	world := ecs.NewWorld()
	w := &arkWorld{
		world: world, berths: make([]ecs.Entity, ships),
		ships: ecs.NewMap3[Hull, arkShield, arkGuns](world), hulls: ecs.NewMap1[Hull](world), shield: ecs.NewMap1[arkShield](world),
		guns: ecs.NewMap1[arkGun](world), shots: ecs.NewMap1[arkShot](world),
		everyShip: ecs.NewFilter2[Hull, arkShield](world), everyGun: ecs.NewFilter1[arkGun](world), everyShot: ecs.NewFilter1[arkShot](world),
	}
	for i := range ships {
		w.launch(newHull(uint64(ships+i), ships))
	}
	return w
}

func (w *arkWorld) launch(hull Hull) {
	ship := w.ships.NewEntity(&hull, &arkShield{fullShield}, &arkGuns{})
	guns := arkGuns{n: hull.guns()}
	for i := range guns.n {
		guns.all[i] = w.guns.NewEntity(&arkGun{Gun: newGun(hull.ID, i), ship: ship})
	}
	_, _, all := w.ships.GetUnchecked(ship)
	*all = guns
	w.berths[hull.Berth] = ship
}

func (w *arkWorld) move() {
	for q := w.everyShip.Query(); q.Next(); {
		hull, shield := q.Get()
		hull.step()
		shield.left = min(shield.left+1, fullShield)
	}
}

func (w *arkWorld) fire(frame uint64) {
	for q := w.everyGun.Query(); q.Next(); {
		g := q.Get()
		if !g.step() {
			continue
		}
		if !w.world.Alive(g.target) {
			g.target = w.berths[g.pick(frame, len(w.berths))]
		}
		w.fired = append(w.fired, arkShot{newFlight(w.hulls.GetUnchecked(g.ship).At, w.hulls.GetUnchecked(g.target).At), g.target})
	}
	for i := range w.fired {
		w.shots.NewEntity(&w.fired[i])
	}
	w.fired = w.fired[:0]
}

func (w *arkWorld) fly() {
	for q := w.everyShot.Query(); q.Next(); {
		s := q.Get()
		var target *Hull
		if w.world.Alive(s.target) {
			target = w.hulls.GetUnchecked(s.target)
			s.follow(target.At)
		}
		if !s.step() {
			continue
		}
		w.gone = append(w.gone, q.Entity())
		if target != nil && hit(&target.HP, &w.shield.GetUnchecked(s.target).left) {
			w.ended = append(w.ended, s.target)
		}
	}
}

func (w *arkWorld) endFrame() {
	for _, shot := range w.gone {
		w.world.RemoveEntity(shot)
	}
	for _, ship := range w.ended {
		hull, _, guns := w.ships.GetUnchecked(ship)
		id, all := hull.ID, *guns
		for _, gun := range all.all[:all.n] {
			w.world.RemoveEntity(gun)
		}
		w.world.RemoveEntity(ship)
		w.launch(newHull(id+uint64(len(w.berths)), len(w.berths)))
	}
	w.gone, w.ended = w.gone[:0], w.ended[:0]
}

func (w *arkWorld) sum() (sum uint64) {
	for q := w.everyShip.Query(); q.Next(); {
		hull, shield := q.Get()
		sum += hull.word(shield.left)
	}
	for q := w.everyShot.Query(); q.Next(); {
		sum++
	}
	return sum
}

// save names ships by their entities.
func (w *arkWorld) save() int {
	var f file
	name := func(e ecs.Entity) { f.half(int32(e.ID())); f.half(int32(e.Gen())) }
	for q := w.everyShip.Query(); q.Next(); {
		hull, shield := q.Get()
		name(q.Entity())
		f.hull(hull, shield.left)
	}
	for q := w.everyGun.Query(); q.Next(); {
		g := q.Get()
		f.gun(&g.Gun)
		name(g.ship)
		name(g.target)
	}
	for q := w.everyShot.Query(); q.Next(); {
		s := q.Get()
		f.flight(&s.Flight)
		name(s.target)
	}
	return len(f)
}
