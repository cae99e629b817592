package shard

import "coatcheck/shard/slots"

// What a Trim has taken goes back to the shards, but for the pages that it gives up.
//
// The slots of a queue go back in the order that they had, which FIFO promises. The wrong version puts
// slots back page by page: FIFO then reuses a slot before others that were removed earlier.
//
// The slots of stacks go back in the order of the table, so that insertions use the first pages. Where
// a few values lie in many pages, they come together as they are replaced, and a later Trim gives up
// the pages that they have left. Of a million values of 16 bytes 1,000 were left, and then replaced at
// random: a pool that kept the old order kept 25 MB for good. With this order 0.2 MB are left after
// five Trims; with four goroutines on four shards 0.2 to 0.5 MB after eight, instead of 14 to 19. A value stays
// where it is until it is removed, and a stack soon hands out that slot again. So each freelist gets the first slots
// at once, twice as many as there are values, and what follows them is ready. The wrong version gives it all: then
// values that are replaced go through the slots of all pages.
//
// The order costs few visits: each slot is written anyway to burn a life, and is then linked to the one
// that was taken before it from the same unit. So a Trim of a million slots takes 0.55 times as long as one that
// restores the old order, and the next ones, which follow the table, a tenth (BenchmarkTrim).

// taken is what a trimmer has taken, until it is given back or its page is given up: queues, or else piles.
type taken interface {
	// init makes room for what is taken from so many shards, and from the table.
	init(shards int)

	// orders reports whether an order is worth it for pages of so many slots, of which some are busy.
	orders(total, busy uint32) bool

	// link returns the index to which slot i, whose word is word, links when it is put.
	link(i uint32, word uint64) uint32

	// put puts slot i, which came from the k-th shard, and whose word has that link.
	put(k int, slot *slots.Hook, i uint32, word uint64)

	// fresh returns as which shard's slots count those that came from the range of the k-th.
	fresh(k int) int

	// giveBack gives back what stays to the shards of a list, if t gives up pages of so many slots.
	giveBack(t *trimmer, list shards, count uint32)
}

// queues are for FIFO, by shard. The last one has what was in a range, or not handed out by the table.
type queues []slots.Chain

func (q *queues) init(shards int) { *q = make(queues, shards+1) }

// orders reports false: queues have an order.
func (q *queues) orders(total, busy uint32) bool { return false }

// link returns the link that there is, which is mostly right already.
func (q *queues) link(i uint32, word uint64) uint32 { return slots.Low(word) }

func (q *queues) put(k int, slot *slots.Hook, i uint32, word uint64) { (*q)[k].Append(slot, i, word) }

func (q *queues) fresh(int) int { return len(*q) - 1 }

// giveBack gives slots that were never used to the first freelist. The others are ready, and get into a freelist
// when there are none of these, and the arena may have no more.
func (q *queues) giveBack(t *trimmer, list shards, count uint32) {
	if count > 0 {
		q.drop(t, count)
	}
	if unused := &(*q)[len(list)]; unused.N > 0 {
		unused.Link(slots.None)
		list[0].free.Splice(unused)
		list[0].unworn.Store(1)
	}
	for k, s := range list {
		s.put(&(*q)[k])
	}
}

// drop drops the slots of pages that go from the queues, of which there are so many. The others keep
// their order. If there are none, no slot need be visited: each visit may be a cache miss.
func (q queues) drop(t *trimmer, count uint32) {
	total := uint32(0)
	for k := range q {
		total += q[k].N
	}
	for k := range q {
		var stay slots.Chain
		for c := &q[k]; total > count && c.N > 0; {
			slot, i, word := c.TakeFirst(&t.arena.Table)
			if f := t.page(i); f == nil || !f.gone {
				stay.Append(slot, i, word)
			}
		}
		q[k] = stay
	}
}

// piles are for stacks.
type piles struct {
	pages  *slots.PageTable // those that there were when the trimmer chose
	units  []slots.Chain    // by unit
	others slots.Chain      // of pages that were added since
	shares []int            // how many slots came from each shard; the last is for the table
}

func (p *piles) init(shards int) {
	p.units, p.shares = make([]slots.Chain, p.pages.Units()), make([]int, shards+1)
}

func (p *piles) orders(total, busy uint32) bool { return total > p.pages.Mask+1 && busy < total/sparse }

// pile returns the pile for slot i.
func (p *piles) pile(i uint32) *slots.Chain {
	if i >= p.pages.Limit {
		return &p.others
	}
	return &p.units[i>>(p.pages.Shift&31)]
}

func (p *piles) link(i uint32, word uint64) uint32 { return p.pile(i).Top() }

func (p *piles) put(k int, slot *slots.Hook, i uint32, word uint64) {
	p.pile(i).NoteFirst(slot, i, word)
	p.shares[k]++
}

func (p *piles) fresh(k int) int { return k }

// giveBack gives the first slots of each shard's to its freelist: twice as many as there are values for each shard. So
// most values that are replaced come to the first pages, and then their slots are used again.
func (p *piles) giveBack(t *trimmer, list shards, count uint32) {
	limit := max(spliceMost, 2*t.live/uint32(len(list)))
	for k, c := range p.deal(t, list) {
		s := list[k]
		if c.N == 0 {
			continue
		}
		part := c.TakePart(&t.arena.Table, limit)
		s.free.Splice(&part) // all lists were taken, and none was filled since (I9)
		if c.N > 0 {
			s.ready.keepTop(&c)
		}
	}
}

// deal deals the piles of pages that stay to the shards of a list, in turns, from the first page on,
// until each has as many slots as it gave. Its shard becomes the home of a pile's unit.
//
// The wrong version puts the slots of each shard in order by itself. A shard with few slots in the
// first pages then goes on in its own: four shards kept 65,536 slots for 1,000 values.
func (p *piles) deal(t *trimmer, list shards) (stays []slots.Chain) {
	stays = make([]slots.Chain, len(list))
	p.shares[0] += p.shares[len(list)]
	stays[0], p.others = p.others, slots.Chain{}
	turn := 0
	for u := range p.units {
		pile, first := &p.units[u], uint32(u)<<(p.pages.Shift&31)
		if f := t.page(first); pile.N == 0 || f != nil && f.gone {
			continue
		}
		for k := range list {
			if next := (turn + k) % len(list); p.shares[next] > 0 {
				turn = next
				break
			}
		}
		p.shares[turn] -= int(pile.N)
		stays[turn].Concat(pile)
		if len(list) > 1 {
			list[turn].setHome(first, first+min(p.pages.Mask+1, p.pages.Limit-first))
		}
		turn++
	}
	return stays
}
