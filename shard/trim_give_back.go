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
// random: a pool that kept the old order kept 25 MB for good. With this order 0.17 MB are left after
// five Trims; with four goroutines on four shards 0.4 to 4 MB after eight, instead of 14 to 19. A value stays
// where it is until it is removed, and a stack hands out that slot again at once. So a Trim moves
// what is vacant just then.
//
// The order costs no visit: each slot is written anyway to burn a life, and is then linked to the one
// that was taken before it from the same unit. So a Trim of a million slots takes 0.55 times as long as one that
// restores the old order, and the next ones, which follow the table, a tenth (BenchmarkTrim).

// taken is what a trimmer has taken, until it is given back or its page is given up.
type taken struct {
	pages *slots.PageTable // those that there were when the trimmer chose
	fifo  bool

	queues []slots.Chain // under FIFO: by shard; the last has what was in a range, or not handed out by the table

	piles  []slots.Chain // without FIFO: by unit
	others slots.Chain   // without FIFO: of pages that were added since
	shares []int         // without FIFO: how many slots came from each shard; the last is for the table
}

// init makes room for what is taken from so many shards, and from the table.
func (t *taken) init(shards int) {
	if t.fifo {
		t.queues = make([]slots.Chain, shards+1)
	} else {
		t.piles = make([]slots.Chain, t.pages.Units())
		t.shares = make([]int, shards+1)
	}
}

// pile returns the pile for slot i.
func (t *taken) pile(i uint32) *slots.Chain {
	if i >= t.pages.Limit {
		return &t.others
	}
	return &t.piles[i>>(t.pages.Shift&31)]
}

// link returns the index to which slot i, whose word is word, links when it is put: mostly a queue's
// links are right already.
func (t *taken) link(i uint32, word uint64) uint32 {
	if t.fifo {
		return slots.Low(word)
	}
	return t.pile(i).Top()
}

// put puts slot i, which came from the k-th shard, and whose word has that link.
func (t *taken) put(k int, slot *slots.Hook, i uint32, word uint64) {
	if t.fifo {
		t.queues[k].Append(slot, i, word)
		return
	}
	t.pile(i).NoteFirst(slot, i, word)
	t.shares[k]++
}

// giveBack gives back what stays to the shards of a list, if pages of so many slots go.
func (t *trimmer) giveBack(list shards, count uint32) {
	if t.fifo {
		if count > 0 {
			t.drop(count)
		}
		t.giveBackQueues(list)
		return
	}
	for k, c := range t.deal(list) {
		if c.N > 0 {
			c.Link(slots.None)
			list[k].free.Splice(&c) // all lists were taken, and none was filled since (I9)
		}
	}
}

// giveBackQueues is giveBack under FIFO. Slots that were never used go to the first freelist. The others are
// ready, and get into a freelist when there are none of these, and the arena may have no more.
func (t *trimmer) giveBackQueues(list shards) {
	if unused := &t.queues[len(list)]; unused.N > 0 {
		unused.Link(slots.None)
		list[0].free.Splice(unused)
		list[0].unworn.Store(1)
	}
	for k, s := range list {
		s.put(&t.queues[k])
	}
}

// drop drops the slots of pages that go from the queues, of which there are so many. The others keep
// their order. If there are none, no slot need be visited: each visit may be a cache miss.
func (t *trimmer) drop(count uint32) {
	total := uint32(0)
	for k := range t.queues {
		total += t.queues[k].N
	}
	for k := range t.queues {
		var stay slots.Chain
		for c := &t.queues[k]; total > count && c.N > 0; {
			slot, i, word := c.TakeFirst(&t.arena.Table)
			if f := t.page(i); f == nil || !f.gone {
				stay.Append(slot, i, word)
			}
		}
		t.queues[k] = stay
	}
}

// deal deals the piles of pages that stay to the shards of a list, in turns, from the first page on,
// until each has as many slots as it gave. Its shard becomes the home of a pile's unit.
//
// The wrong version puts the slots of each shard in order by itself. A shard with few slots in the
// first pages then goes on in its own: four shards kept 65,536 slots for 1,000 values.
func (t *trimmer) deal(list shards) (stays []slots.Chain) {
	stays = make([]slots.Chain, len(list))
	t.shares[0] += t.shares[len(list)]
	stays[0], t.others = t.others, slots.Chain{}
	turn := 0
	for p := range t.piles {
		pile, first := &t.piles[p], uint32(p)<<(t.pages.Shift&31)
		if f := t.page(first); pile.N == 0 || f != nil && f.gone {
			continue
		}
		for k := range list {
			if next := (turn + k) % len(list); t.shares[next] > 0 {
				turn = next
				break
			}
		}
		t.shares[turn] -= int(pile.N)
		stays[turn].Concat(pile)
		if len(list) > 1 {
			list[turn].setHome(first, first+min(t.pages.Mask+1, t.pages.Limit-first))
		}
		turn++
	}
	return stays
}
