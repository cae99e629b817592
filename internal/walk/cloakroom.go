//go:build interleave

package main

import (
	"fmt"

	"coatcheck/epoch"
	"coatcheck/shard"
)

// coat is the value of the pool: its colour, or "" for no coat.
type coat string

// cloakroom is a pool of one shard whose state can be read. It has the operations of
// package pool that the pictures need.
type cloakroom struct {
	arena  shard.Arena[coat]
	domain *epoch.Domain
	guards []guard
	worker *shard.Magazine[coat]
}

// guard is a reader's pin, and the slot to which it has a pointer.
type guard struct {
	name  string
	pin   epoch.Guard
	epoch uint64 // E when it was pinned
	seen  *coat
}

// pageShift makes pages of two hooks.
const pageShift = 1

// open makes a cloakroom of that many hooks; first is the first live generation.
func open(hooks, first uint32, set func(*shard.Config[coat])) *cloakroom {
	c := &cloakroom{domain: epoch.New()}
	config := shard.Config[coat]{
		Domain: c.domain, Slots: uint64(hooks), Shift: pageShift, Shards: 1,
		First: first, Pointers: true,
	}
	if set != nil {
		set(&config)
	}
	c.arena.Init(config)
	return c
}

func (c *cloakroom) insert(v coat) ticket {
	claim := c.arena.Claim
	if c.worker != nil {
		claim = c.worker.Claim
		if slot, h := c.worker.Next(); slot != nil {
			claim = func() (*shard.Slot[coat], uint64, error) { return slot, h, nil }
		}
	}
	slot, h, err := claim()
	if err != nil {
		panic(err)
	}
	slot.Value = v
	slot.Publish(h)
	return ticket(h)
}

// insertAll inserts coats until no hook is vacant.
func (c *cloakroom) insertAll(vs ...coat) (ts []ticket) {
	for _, v := range vs {
		ts = append(ts, c.insert(v))
	}
	return ts
}

func (c *cloakroom) get(t ticket) (coat, bool) {
	slot := c.arena.Find(uint64(t))
	if slot == nil || slot.Word.Load() != uint64(t) {
		return "", false
	}
	return slot.Value, true
}

func (c *cloakroom) remove(t ticket) bool {
	if c.worker != nil {
		return c.worker.Remove(uint64(t))
	}
	return c.arena.RemoveAt(0, uint64(t))
}

// mustRemove removes a live coat.
func (c *cloakroom) mustRemove(ts ...ticket) {
	for _, t := range ts {
		if !c.remove(t) {
			panic(fmt.Sprintf("%v is stale", t))
		}
	}
}

// pin pins a guard and gets t's coat under it.
func (c *cloakroom) pin(name string, t ticket) {
	g := guard{name: name, pin: c.domain.Pin(), epoch: c.domain.Epoch()}
	if _, ok := c.get(t); !ok {
		panic("a reader cannot find " + t.String())
	}
	g.seen = &c.arena.Find(uint64(t)).Value
	c.guards = append(c.guards, g)
}

// unpin unpins the oldest guard.
func (c *cloakroom) unpin() {
	c.guards[0].pin.Unpin()
	c.guards = c.guards[1:]
}

// ticket is a handle.
type ticket uint64

func (t ticket) String() string {
	return fmt.Sprintf("%d@%s", shard.Low(uint64(t)), grouped(shard.Generation(uint64(t))))
}
