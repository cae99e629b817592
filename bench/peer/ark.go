package peer

import "github.com/mlange-42/ark/ecs"

// openArk opens an entity component system's world with one component, the value. Entities are
// indexes with a generation. The components of live entities have no gaps: a removal moves
// the last one.
//
// Users ask whether an entity is alive, because a dead one panics, and then use the
// look-up without that check. An entity of another world may be read out of bounds.
func openArk[R any](c Config[R]) Store {
	w := ecs.NewWorld()
	if !c.Grow {
		w = ecs.NewWorld(c.Live + c.Sessions)
	}
	values, filter := ecs.NewMap1[Value[R]](w), ecs.NewFilter1[Value[R]](w)
	return Store{
		Session: func() Session {
			return &session[entity]{contestant: &arkSession[R]{world: w, values: values, rest: c.Rest}}
		},
		All: func() (n int, sum uint64) {
			for q := filter.Query(); q.Next(); {
				n++
				sum += q.Get().ID
			}
			return
		},
	}
}

type entity = ecs.Entity

type arkSession[R any] struct {
	world  *ecs.World
	values *ecs.Map1[Value[R]]
	rest   R
}

func (s *arkSession[R]) do(t *task[entity]) outcome {
	return others(t, func(do loop[entity]) outcome {
		return do(
			func(id uint64) entity { return s.values.NewEntity(&Value[R]{id, s.rest}) },
			func(e entity) (uint64, bool) {
				if !s.world.Alive(e) {
					return 0, false
				}
				return s.values.GetUnchecked(e).ID, true
			},
			func(e entity) bool {
				if !s.world.Alive(e) {
					return false
				}
				s.world.RemoveEntity(e)
				return true
			})
	})
}
