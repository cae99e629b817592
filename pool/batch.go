package pool

import "coatcheck/shard"

// InsertBatch inserts the values of vs in order and appends a handle for each to
// dst. On an error what was inserted stays, and the handles tell how many. It is
// a sequence of insertions, not one.
func (p *Pool[T]) InsertBatch(vs []T, dst []Handle[T]) ([]Handle[T], error) {
	p.pages()
	s := p.local()
	for i := range vs {
		slot, h, err := p.claim(s)
		if err != nil {
			return dst, err
		}
		slot.Value = vs[i]
		slot.Publish(h)
		if debugging {
			p.records.lives.Began(h, inserted)
		}
		dst = append(dst, Handle[T](h))
	}
	return dst, nil
}

// RemoveBatch removes every value that hs names, and returns how many it
// removed. It is a sequence of removals, each of which costs one locked
// instruction; the slots wait for their grace period together.
func (p *Pool[T]) RemoveBatch(hs []Handle[T]) int {
	t := p.pages()
	b := p.remover()
	defer b.flush()
	for _, h := range hs {
		if h.Index() < t.Limit {
			if b.remove(shard.At[T](t, h.Index()), uint64(h)) && debugging {
				p.records.lives.Ended(uint64(h), removed)
			}
		}
	}
	return b.n
}

// GetBatch appends to dst a pointer for each of hs, nil for one that is not
// live. It looks at the words of many slots before it uses any, so that their
// cache misses overlap.
func (g *Guard[T]) GetBatch(hs []Handle[T], dst []*T) []*T {
	t := g.pages()
	for _, h := range hs {
		var v *T
		if h.Index() < t.Limit {
			if slot := shard.At[T](t, h.Index()); slot.Word.Load() == uint64(h) { // observes (P1)
				v = &slot.Value
			}
		}
		dst = append(dst, v)
	}
	return dst
}

// remover gathers removals in chains of up to a batch, so that limbo is pushed to
// once a chain. Nobody else can have the slots meanwhile, so no user code may run
// while there are any.
type remover[T any] struct {
	s     *shard.Shard[T]
	most  uint32 // slots in a chain
	chain shard.Chain
	n     int
}

func (p *Pool[T]) remover() remover[T] { return remover[T]{s: p.local(), most: p.space.Reach} }

// remove removes what h names from slot.
func (b *remover[T]) remove(slot *shard.Slot[T], h uint64) bool {
	if !b.s.Unlink(slot, h, &b.chain) {
		return false
	}
	b.n++
	if b.chain.Len() >= int(b.most) {
		b.s.RetireChain(&b.chain)
	}
	return true
}

// flush retires what was gathered. It must run on every way out: deferred, where
// user code runs between the removals.
func (b *remover[T]) flush() { b.s.RetireChain(&b.chain) }
