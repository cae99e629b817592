package pool

import "coatcheck/shard"

// Insert puts v into a vacant slot and returns the handle that names it. The
// error is ErrFull, or one that wraps it. It costs one locked instruction on
// amd64.
//
// It waits for other goroutines in two cases: when it adds a page, and when it would
// be refused because one of them was preempted while it reclaimed, trimmed or looked
// a value up.
func (p *Pool[T]) Insert(v T) (Handle[T], error) {
	p.pages()
	s := p.local()
	if !p.space.FIFO {
		if h := s.Insert(v); h != 0 {
			if debugging {
				p.records.lives.Began(h, inserted)
			}
			return Handle[T](h), nil
		}
	}
	return p.insertSlow(s, v)
}

func (p *Pool[T]) insertSlow(s *shard.Shard[T], v T) (Handle[T], error) {
	slot, h, err := p.claimSlow(s)
	if err != nil {
		return 0, err
	}
	slot.Value = v
	slot.Publish(h) // here the insertion takes effect
	if debugging {
		p.records.lives.Began(h, inserted)
	}
	return Handle[T](h), nil
}

// InsertFunc is Insert for a value that is built where it will live. init gets
// the value, zero or as Options.Reset left it, and its handle, which is not live
// until init returns. A panic in init, or runtime.Goexit, gives the slot back
// and goes on up; the handle then never becomes live. init may use the pool.
func (p *Pool[T]) InsertFunc(init func(h Handle[T], v *T)) (Handle[T], error) {
	p.pages()
	s := p.local()
	slot, h, err := p.claim(s)
	if err != nil {
		return 0, err
	}
	return p.build(s, slot, h, init), nil
}

// build runs a constructor on a claimed slot and publishes what it made.
func (p *Pool[T]) build(s *shard.Shard[T], slot *shard.Slot[T], h uint64, init func(Handle[T], *T)) Handle[T] {
	built := false
	defer func() {
		if !built {
			c := s.Burn(slot, h)
			if debugging {
				p.records.lives.Ended(h, burnt)
			}
			s.RetireChain(&c)
		}
	}()
	p.space.Blank(slot)
	init(Handle[T](h), &slot.Value)
	slot.Publish(h)
	built = true
	if debugging {
		p.records.lives.Began(h, inserted)
	}
	return Handle[T](h)
}
