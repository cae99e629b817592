package peer

import "github.com/mlange-42/ark/ecs"

// Ark is an entity component system's pool of entities, with one component, the
// value. Entities are indexes with a generation, the components of those that are
// live lie without gaps: a removal moves the last one.
//
// Its users ask whether an entity is alive before they touch it, because a dead one
// panics, and having asked, use the look-up that doesn't ask again. A name of
// another world is not to be shown to it: an index beyond its entities is read all
// the same.
func Ark[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameArk, What: module("github.com/mlange-42/ark") + " World", Alone: true, Clears: true},
		Open: func(c Config[R]) (Store, error) {
			var w *ecs.World
			if c.Grow {
				w = ecs.NewWorld()
			} else {
				w = ecs.NewWorld(c.Live + c.Sessions)
			}
			return &arkStore[R]{w, ecs.NewMap1[Value[R]](w), ecs.NewFilter1[Value[R]](w), c.Rest}, nil
		},
	}
}

type arkStore[R any] struct {
	world  *ecs.World
	values *ecs.Map1[Value[R]]
	filter *ecs.Filter1[Value[R]]
	rest   R
}

func (s *arkStore[R]) Session() Session {
	return &arkSession[R]{world: s.world, values: s.values, rest: s.rest}
}

func (s *arkStore[R]) Len() int {
	q := s.filter.Query()
	defer q.Close()
	return q.Count()
}

func (s *arkStore[R]) Close() {}

func (s *arkStore[R]) All() (n int, sum uint64) {
	for q := s.filter.Query(); q.Next(); {
		n++
		sum += q.Get().ID
	}
	return
}

type arkSession[R any] struct {
	named[ecs.Entity]
	world  *ecs.World
	values *ecs.Map1[Value[R]]
	rest   R
}

func (s *arkSession[R]) put(id uint64) ecs.Entity {
	return s.values.NewEntity(&Value[R]{id, s.rest})
}

func (s *arkSession[R]) look(e ecs.Entity) (uint64, bool) {
	if !s.world.Alive(e) {
		return 0, false
	}
	return s.values.GetUnchecked(e).ID, true
}

func (s *arkSession[R]) drop(e ecs.Entity) bool {
	if !s.world.Alive(e) {
		return false
	}
	s.world.RemoveEntity(e)
	return true
}

func (s *arkSession[R]) Put(ns Names, i int, id uint64)      { of[ecs.Entity](ns)[i] = s.put(id) }
func (s *arkSession[R]) Look(ns Names, i int) (uint64, bool) { return s.look(of[ecs.Entity](ns)[i]) }
func (s *arkSession[R]) Drop(ns Names, i int) bool           { return s.drop(of[ecs.Entity](ns)[i]) }

func (s *arkSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) ecs.Entity { return s.put(id) },
		func(n ecs.Entity) bool { return s.drop(n) })
}

func (s *arkSession[R]) Fill(ns Names, id uint64) {
	fill(of[ecs.Entity](ns), id, func(id uint64) ecs.Entity { return s.put(id) })
}

func (s *arkSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[ecs.Entity](ns),
		func(n ecs.Entity) (uint64, bool) { return s.look(n) },
		func(n ecs.Entity) bool { return s.drop(n) })
}

func (s *arkSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
	return replace(of[ecs.Entity](ns), picks, id,
		func(id uint64) ecs.Entity { return s.put(id) },
		func(n ecs.Entity) bool { return s.drop(n) })
}

func (s *arkSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[ecs.Entity](ns), picks, func(n ecs.Entity) (uint64, bool) { return s.look(n) })
}
