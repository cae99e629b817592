package apps

import (
	"coatcheck/pool"
	"coatcheck/pool/command"
	"coatcheck/pool/dense"
	"coatcheck/pool/table"
	"coatcheck/pool/tree"
)

// Unit is a ship or a gun. What look-ups of targets read is at the end, beside the slot's word.
type Unit struct {
	Links  tree.Links[Unit] // a ship's guns are its children
	Gun    Gun
	Target pool.Handle[Unit] // of a gun
	Hull   Hull              // zero for a gun
}

// Shield is the record of a ship in the table.
type Shield struct{ Left int32 }

type unitShot struct {
	Flight
	Target pool.Handle[Unit]
}

// forestWorld has ships and guns in one pool, as a forest; ships' shields in a table; shots side by side
// in a dense store. Nothing is removed before the end of the frame, so pointers need no guard.
type forestWorld struct {
	units   *pool.Pool[Unit]
	forest  *tree.Forest[Unit]
	shields *table.Table[pool.Handle[Unit], Shield]
	left    table.View[int32]
	shots   *dense.Store[unitShot]
	ends    *command.Buffer[Unit]
	berths  []pool.Handle[Unit]
	free    []Hull // ships whose berths are free at the end of the frame
}

func newForestWorld(ships int) *forestWorld {
	units := pool.Must[Unit](nil)
	w := &forestWorld{
		units:   units,
		forest:  tree.New(units, func(u *Unit) *tree.Links[Unit] { return &u.Links }),
		shields: table.MustForHandles[Unit, Shield](units, table.SoA),
		shots:   dense.Must(&dense.Options[unitShot]{Unordered: true}),
		ends:    command.New(units),
		berths:  make([]pool.Handle[Unit], ships),
	}
	w.left = table.Column(w.shields, func(s *Shield) *int32 { return &s.Left })
	for i := range ships {
		w.launch(newHull(uint64(ships+i), ships))
	}
	return w
}

func (w *forestWorld) launch(hull Hull) {
	ship := inserted(w.units.InsertFunc(func(_ pool.Handle[Unit], u *Unit) { u.Hull = hull }))
	w.shields.Add(ship, Shield{fullShield})
	w.berths[hull.Berth] = ship
	for i := range hull.guns() {
		gun := inserted(w.units.InsertFunc(func(_ pool.Handle[Unit], u *Unit) { u.Gun = newGun(hull.ID, i) }))
		if err := w.forest.Append(ship, gun); err != nil {
			panic(err)
		}
	}
}

func (w *forestWorld) move() {
	for _, h := range w.berths {
		ship, _ := w.units.Pointer(h)
		ship.Hull.step()
	}
	left, _ := w.left.Slice()
	for i := range left {
		left[i] = min(left[i]+1, fullShield)
	}
}

func (w *forestWorld) fire(frame uint64) {
	g := w.units.Pin()
	defer g.Unpin()
	for h, u := range g.All() {
		if u.Gun.ID == 0 || !u.Gun.step() {
			continue
		}
		target, ok := g.Pointer(u.Target)
		if !ok {
			u.Target = w.berths[u.Gun.pick(frame, len(w.berths))]
			target, _ = g.Pointer(u.Target)
		}
		parent, _ := w.forest.Parent(h)
		ship, _ := g.Pointer(parent)
		inserted(w.shots.Create(unitShot{newFlight(ship.Hull.At, target.Hull.At), u.Target}))
	}
}

func (w *forestWorld) fly() {
	shots, names := w.shots.Values(), w.shots.Handles()
	for i := range shots {
		s := &shots[i]
		target, live := w.units.Pointer(s.Target)
		if live {
			s.follow(target.Hull.At)
		}
		if !s.step() {
			continue
		}
		w.shots.Kill(names[i])
		if live && hit(&target.Hull.HP, w.left.At(w.shields.Lookup(s.Target))) {
			w.free = append(w.free, target.Hull)
			w.ends.Do(func() {
				w.shields.Remove(s.Target)
				w.forest.Remove(s.Target)
			})
		}
	}
}

func (w *forestWorld) endFrame() {
	w.ends.Apply()
	for _, hull := range w.free {
		w.launch(newHull(hull.ID+uint64(len(w.berths)), len(w.berths)))
	}
	w.free = w.free[:0]
	w.shots.Refresh()
}

func (w *forestWorld) sum() (sum uint64) {
	for i, h := range w.shields.Keys() {
		ship, _ := w.units.Pointer(h)
		sum += ship.Hull.word(*w.left.At(table.Index(i)))
	}
	return sum + uint64(w.shots.Len())
}

func (w *forestWorld) save() int { return written(w.units, w.shields, w.shots) }
