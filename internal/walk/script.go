//go:build interleave

package main

import (
	"context"
	"fmt"
	"slices"

	"coatcheck/shard"
)

// pictures runs the script.
func pictures() []*picture {
	return []*picture{ticketPicture(), handlePicture(), pagesPicture(), guardPicture(), chunksPicture(), reusePicture(), exhaustedPicture(), workerPicture()}
}

// show adds the current state to p, with a caption, the last operation, and the lists to
// draw.
func (p *picture) show(c *cloakroom, caption, run string, lists ...string) *state {
	s := c.look()
	s.caption, s.run, s.shown = caption, run, lists
	p.steps = append(p.steps, s)
	return &p.steps[len(p.steps)-1]
}

// checks shows tickets.
func (s *state) checks(c *cloakroom, ts ...ticket) *state {
	for _, t := range ts {
		v, ok := c.get(t)
		s.checked = append(s.checked, check{t, v, ok})
	}
	return s
}

// must panics if the last step is not what its caption says.
func (p *picture) must(ok bool) {
	if !ok {
		panic(fmt.Sprintf("walk-%s, step %d is not what it says: %+v", p.name, len(p.steps), p.steps[len(p.steps)-1]))
	}
}

// clock adds the epochs to the step.
func (s *state) clock() *state {
	s.showClock = true
	return s
}

// stamps reports whether s has one chunk, with that stamp.
func (s *state) stamps(stamp uint64) bool {
	chunks := slices.DeleteFunc(slices.Clone(s.lists), func(l list) bool { return l.name != "chunk" })
	return len(chunks) == 1 && chunks[0].note == fmt.Sprintf("stamp %d", stamp)
}

// settle reclaims all removed slots.
func (c *cloakroom) settle() {
	if err := c.arena.Wait(context.Background()); err != nil {
		panic(err)
	}
}

func ticketPicture() *picture {
	p := &picture{name: "ticket", alt: "A hook is used again, and the old ticket is refused"}
	c := open(2, 1, nil)
	red := c.insert("red")
	s := p.show(c, "A coat is handed in. The ticket says which hook, and which visit.", `red, _ := p.Insert(coat)`).checks(c, red)
	p.must(s.checked[0].ok && s.place(0) == "live")
	c.mustRemove(red)
	c.settle()
	s = p.show(c, "It is collected. The hook is free, and the ticket is worth nothing.", "p.Remove(red)").checks(c, red)
	p.must(!s.checked[0].ok && s.place(0) == "freelist")
	blue := c.insert("blue")
	s = p.show(c, "The next coat gets the same hook and a new ticket. The old one is refused.", `blue, _ := p.Insert(coat)`).checks(c, red, blue)
	p.must(!s.checked[0].ok && s.checked[1].ok && s.place(0) == "live")
	return p
}

func handlePicture() *picture {
	p := &picture{name: "handle", alt: "A handle is a generation and an index; the word of a live slot equals it"}
	c := open(4, 1, nil)
	ts := c.insertAll("red", "blue")
	c.mustRemove(ts...)
	c.settle()
	blue := c.insert("blue")
	i := shard.Low(uint64(blue))
	s := p.show(c, "While a slot is live, its word is the handle. A look-up compares the two.", "")
	name, slot := halves(uint64(blue)), s.hooks[i].halves()
	name.name, slot.name, slot.highIs, slot.lowIs = "the handle", "the slot's word", "odd: live", "its own index"
	s.words = []word{name, slot}
	p.must(c.arena.Find(uint64(blue)).Word.Load() == uint64(blue))

	c.mustRemove(blue)
	c.settle()
	s = p.show(c, "A removal makes the generation even. The low half is now a link to the next vacant slot.", "p.Remove(blue)")
	slot = s.hooks[i].halves()
	slot.name, slot.highIs, slot.lowIs = "the slot's word", "even: vacant", "the next of its list"
	s.words = []word{name, slot}
	p.must(s.hooks[i].generation%2 == 0 && s.hooks[i].low != i && s.place(i) == "freelist" && s.hooks[i].low == s.list("freelist")[1])
	return p
}

// halves returns the halves of a handle.
func halves(h uint64) word {
	return word{high: grouped(shard.Generation(h)), low: fmt.Sprint(shard.Low(h)), highIs: "generation", lowIs: "index"}
}

// halves returns the halves of the slot's word.
func (h hook) halves() word {
	high, low := h.word()
	return word{high: high, low: low}
}

func pagesPicture() *picture {
	p := &picture{name: "pages", alt: "Pages are added and never move"}
	c := open(8, 1, nil)
	c.insertAll("red", "blue")
	where := c.arena.Find(0)
	s := p.show(c, "A pool begins with one page.", "p.Insert(red)\np.Insert(blue)")
	s.showPages, s.columns = true, 4
	p.must(s.pages == 1)
	c.insert("green")
	s = p.show(c, "When no hook is left, a page is added. Page A is where it was.", "p.Insert(green)")
	s.showPages, s.columns = true, 4
	p.must(c.arena.Find(0) == where && s.pages == 2)
	return p
}

func guardPicture() *picture {
	p := &picture{name: "guard", alt: "A slot that a reader may look at is not used again before its guard is unpinned"}
	c := open(4, 1, nil)
	ts := c.insertAll("red", "blue")
	c.pin("reader", ts[0])
	s := p.show(c, "A reader pins a guard and gets a pointer to the red coat.", "g := p.Pin()\nc, ok := g.Get(red)", "freelist", "limbo").clock()
	p.must(len(s.guards) == 1 && s.hooks[0].seen)
	c.mustRemove(ts[0])
	s = p.show(c, "The coat is removed. Its ticket is refused from now on, but the coat stays: it is in limbo.", "p.Remove(red)", "freelist", "limbo").clock().checks(c, ts[0])
	p.must(s.place(0) == "limbo" && s.hooks[0].coat == "red" && !s.checked[0].ok)
	c.mustRemove(ts[1])
	s = p.show(c, "Two removed hooks are a batch. Limbo is sealed: they are a chunk now, with the epoch as its stamp.", "p.Remove(blue)", "freelist", "limbo", "chunk").clock()
	p.must(s.stamps(0) && s.place(0) == "chunk" && s.place(1) == "chunk" && s.hooks[0].coat == "red")
	c.insert("green")
	s = p.show(c, "A new coat does not get these hooks. The reader was pinned in epoch 0, and the stamp is not below that.", "p.Insert(green)", "freelist", "limbo", "chunk").clock()
	p.must(s.place(2) == "live" && s.hooks[0].coat == "red" && s.hooks[0].seen && s.stamps(0) && s.guards[0].epoch == 0)
	c.unpin()
	c.settle()
	s = p.show(c, "The reader has gone. A scan meets no guard, so the hooks are cleared and free.", "g.Unpin()\np.Synchronize(ctx)", "freelist", "limbo").clock()
	p.must(s.place(0) == "freelist" && s.place(1) == "freelist" && s.hooks[0].coat == "")
	return p
}

func chunksPicture() *picture {
	p := &picture{name: "chunks", alt: "A chunk waits for the guards that were pinned before it was sealed, and for no others"}
	c := open(4, 1, nil)
	shown := []string{"freelist", "limbo", "chunk"}
	ts := c.insertAll("red", "blue", "green", "gold")
	c.pin("early", ts[0])
	c.mustRemove(ts[0], ts[1])
	s := p.show(c, "An early reader looks at red. Red and blue are removed, and sealed with the stamp 0.", "early := p.Pin()\np.Remove(red)\np.Remove(blue)", shown...).clock()
	p.must(s.stamps(0) && s.epoch == 0)
	c.pin("late", ts[2])
	c.mustRemove(ts[2], ts[3])
	s = p.show(c, "A late reader is pinned after the stamp, so the epoch moves on first. The reader looks at green. Green and gold are removed.", "late := p.Pin()\np.Remove(green)\np.Remove(gold)", shown...).clock()
	p.must(s.stamps(0) && s.place(2) == "limbo" && s.epoch == 1 && s.guards[1].epoch == 1)
	c.unpin()
	c.insert("plum")
	s = p.show(c, "The early reader has gone. The oldest guard has epoch 1. Red's and blue's stamp is below that, so their hooks are free. Green's and gold's is not.", "early.Unpin()\np.Insert(plum)", shown...).clock()
	p.must(s.stamps(1) && s.place(2) == "chunk" && s.hooks[2].coat == "green" && len(s.list("freelist")) == 1)
	c.unpin()
	c.settle()
	s = p.show(c, "When the late reader has gone, all are free.", "late.Unpin()\np.Synchronize(ctx)", "freelist", "limbo").clock()
	p.must(len(s.list("freelist")) == 3)
	return p
}

func reusePicture() *picture {
	p := &picture{name: "reuse", alt: "LIFO uses the hook again that came free last, FIFO the one that came free first"}
	for _, fifo := range []bool{false, true} {
		c := open(4, 1, func(c *shard.Config[coat]) { c.FIFO = fifo })
		ts := c.insertAll("red", "blue", "green", "plum")
		c.mustRemove(ts[:3]...)
		c.settle()
		says := "LIFO: red, blue and green were removed, one after the other. The last one's hook is on top."
		lists, want := []string{"freelist"}, ts[2]
		if fifo {
			says = "FIFO: the same. The first one's hook is in front. Green's came free when the list had hooks: it is ready, and waits until the list is empty."
			lists, want = []string{"freelist", "ready"}, ts[0]
		}
		s := p.show(c, says, "", lists...)
		next := shard.Low(uint64(want))
		p.must(s.list("freelist")[0] == next && len(s.list("freelist"))+len(s.list("ready")) == 3 && len(s.list("ready")) == len(lists)-1)
		gold := c.insert("gold")
		s = p.show(c, "The next coat gets the first hook of the list.", "p.Insert(gold)", lists...).checks(c, gold)
		p.must(shard.Low(uint64(gold)) == next)
	}
	return p
}

func exhaustedPicture() *picture {
	p := &picture{name: "exhausted", alt: "A hook that has used up its generations is given up"}
	c := open(2, shard.LastGeneration-2, nil)
	first := c.insert("red")
	c.mustRemove(first)
	c.settle()
	last := c.insert("blue")
	s := p.show(c, "Hook 0 has its last generation.", "last, _ := p.Insert(blue)").checks(c, last)
	p.must(s.hooks[0].generation == shard.LastGeneration)
	c.mustRemove(last)
	c.settle()
	s = p.show(c, "Then it is exhausted: in no list, for ever. Its tickets stay refused.", "p.Remove(last)", "freelist").checks(c, first, last)
	p.must(s.place(0) == "exhausted" && len(s.list("freelist")) == 0 && !s.checked[0].ok && !s.checked[1].ok)
	green := c.insert("green")
	s = p.show(c, "The next coat gets another hook.", "p.Insert(green)", "freelist").checks(c, green)
	p.must(s.place(1) == "live")
	return p
}

func workerPicture() *picture {
	p := &picture{name: "worker", alt: "A Worker keeps vacant hooks that no other goroutine sees"}
	c := open(128, 1, func(c *shard.Config[coat]) { c.Capacity = 128 })
	m := c.arena.NewMagazine()
	c.worker = m
	shown := []string{"freelist", "limbo", "magazine", "bag"}
	ts := c.insertAll("red", "blue", "green", "gold")
	c.mustRemove(ts[:3]...)
	s := p.show(c, "A Worker has inserted four coats and removed three. Their hooks are in its bag, for a grace period, as in limbo.", "w.Remove(red)\nw.Remove(blue)\nw.Remove(green)", shown...)
	p.must(len(s.list("bag")) == 3 && s.place(3) == "live" && s.hooks[0].coat == "red")
	c.mustRemove(ts[3])
	s = p.show(c, "The bag is full. What is in it is sealed; no guard is pinned, so its hooks are cleared and in the magazine.", "w.Remove(gold)", shown...)
	p.must(len(s.list("magazine")) == 3 && len(s.list("bag")) == 1 && s.hooks[0].coat == "" && s.hooks[3].coat == "gold")
	c.insert("plum")
	s = p.show(c, "An insertion takes a hook from the magazine. The shared lists were not touched.", "w.Insert(plum)", shown...)
	p.must(len(s.list("magazine")) == 2 && len(s.list("freelist")) == 0 && len(s.list("limbo")) == 0)
	return p
}
