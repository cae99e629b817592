//go:build interleave

package explore_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/verbs"
	. "coatcheck/pool"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// What is required of snapshots: a copy has what lived throughout, and no handle that was known
// when a value was read comes to life in it (L8).

// known are the handles that have been issued or reserved in the run that is under
// way: what a value might refer to at the moment when it is encoded. Runs do not
// overlap.
var known func() []Handle[val]

// MarshalBinary encodes the stamp and every handle that is known.
func (v val) MarshalBinary() ([]byte, error) {
	b := binary.BigEndian.AppendUint64(nil, v.stamp)
	for _, h := range known() {
		b = binary.BigEndian.AppendUint64(b, uint64(h))
	}
	return b, nil
}

// referred are the handles that the values which were read last referred to.
var referred map[Handle[val]]bool

func (v *val) UnmarshalBinary(b []byte) error {
	v.stamp, v.keep = binary.BigEndian.Uint64(b), &anchor
	for b = b[8:]; len(b) > 0; b = b[8:] {
		referred[Handle[val](binary.BigEndian.Uint64(b))] = true
	}
	return nil
}

// writer does inner at its first Write.
type writer struct {
	bytes.Buffer
	inner func()
}

func (w *writer) Write(b []byte) (n int, err error) {
	if inner := w.inner; inner != nil {
		w.inner = nil
		interleave.Pause()
		if caught(inner) {
			return 0, verbs.ErrMeant // the snapshot ends, and the program goes on
		}
	}
	return w.Buffer.Write(b)
}

// snapshot writes a snapshot, whose writer does inner, if that is not nil; at the end of the run, what
// a copy has is judged.
func (a *actor) snapshot(inner func()) {
	w := a.world
	known = w.promised
	b := writer{inner: inner}
	before := a.settledEntries()
	f := a.enter("WriteTo")
	f.pins = true
	_, err := a.p.WriteTo(&b)
	a.unwind(f)
	a.leave()
	if errors.Is(err, verbs.ErrMeant) {
		return
	}
	stay := stayed(before)
	w.atEnd(func() error {
		if err != nil {
			return err
		}
		return w.judge(b.Bytes(), stay)
	})
}

// promised returns all handles that were issued or reserved.
func (w *world) promised() (hs []Handle[val]) {
	for _, e := range w.entries {
		hs = append(hs, e.h)
	}
	for _, r := range w.reserved {
		hs = append(hs, r.Handle())
	}
	return hs
}

// stayed returns those of the entries that cannot have been removed.
func stayed(before []*life) (stay []Handle[val]) {
	for _, e := range before {
		if !e.begun {
			stay = append(stay, e.h)
		}
	}
	return stay
}

// atEnd adds a judge to those of the end of the run.
func (w *world) atEnd(judge func() error) {
	next := w.finish
	w.finish = func() error {
		if err := judge(); err != nil || next == nil {
			return err
		}
		return next()
	}
}

// clone makes a clone: by a function that does inner at its first call, or a plain one if inner is nil. At the end of
// the run, what the clone has is judged.
func (a *actor) clone(inner func()) {
	w := a.world
	refers := map[Handle[val]]bool{} // what the values may refer to that are copied
	note := func() {
		for _, h := range w.promised() {
			refers[h] = true
		}
	}
	before := a.settledEntries()
	f := a.enter("Clone")
	f.pins = true
	w.names.clones++
	defer func() { w.names.clones-- }() // also when inner ends the thread
	note()
	var function func(dst, src *val)
	if inner != nil {
		function = func(dst, src *val) {
			seen := *src
			if do := inner; do != nil {
				inner = nil
				interleave.Pause()
				do()
			}
			interleave.Pause()
			if *dst = *src; seen.stamp == 0 || *dst != seen {
				a.r.Failf("Clone: a function was given the value %+v, which then was %+v", seen, *dst)
			}
			note()
		}
	}
	o := Options[val]{Shards: 1}
	if origin := Arena(w.p).Origin; !isApart(origin) {
		o.Origin = origin
	}
	var c *Pool[val]
	var err error
	failed := caught(func() { c, err = CloneSized(a.p, &o, function, Arena(w.p).Pages) })
	a.unwind(f)
	a.leave()
	if failed {
		return
	}
	stay := stayed(before)
	w.atEnd(func() error {
		if err != nil {
			return fmt.Errorf("Clone: %w", err)
		}
		if err := w.judgeCopy(c, stay, refers); err != nil {
			return fmt.Errorf("Clone: %w", err)
		}
		return nil
	})
}

// caught calls f, and reports whether it panics as a program may.
func caught(f func()) (failed bool) {
	defer func() {
		if x := recover(); x == verbs.ErrMeant {
			failed = true
		} else if x != nil {
			panic(x)
		}
	}()
	f()
	return false
}

// isApart reports whether slots with these Origins begin apart. No Options.Origin makes others like them.
func isApart(origin uint32) bool { return origin%2 == 0 }

// judge looks at a copy, and at one that goes on where the original was.
func (w *world) judge(snapshot []byte, stay []Handle[val]) error {
	origins := []uint32{0}
	if origin := Arena(w.p).Origin; !isApart(origin) {
		origins = append(origins, origin)
	}
	for _, origin := range origins {
		referred = map[Handle[val]]bool{}
		c, err := ReadSized(bytes.NewReader(snapshot), &Options[val]{Shards: 1, Origin: origin}, Arena(w.p).Pages)
		if err == nil {
			err = w.judgeCopy(c, stay, referred)
		}
		if err != nil {
			return fmt.Errorf("Origin %d: %w", origin, err)
		}
	}
	return nil
}

// judgeCopy looks at a copy, and for as long as the original lived at what it issues. Its values refer to some handles.
func (w *world) judgeCopy(c *Pool[val], stay []Handle[val], refers map[Handle[val]]bool) error {
	for _, h := range stay {
		if !c.Contains(h) {
			return fmt.Errorf("%v lived throughout, and is not in the copy", h)
		}
	}
	for h, v := range c.All() {
		if e := w.find(h); e == nil || e.stamp != v.stamp {
			return fmt.Errorf("the copy has %v with the value %d", h, v.stamp)
		}
		delete(refers, h)
	}
	for range 6 {
		var hs []Handle[val]
		for range 12 {
			h, err := c.Insert(val{})
			if err != nil {
				return err
			}
			if refers[h] {
				return fmt.Errorf("%v was known when a value was written, and comes to life in the copy", h)
			}
			if err := w.skipped(h); err != nil {
				return fmt.Errorf("the copy: %w", err)
			}
			hs = append(hs, h)
		}
		c.RemoveBatch(hs)
	}
	return nil
}

// restored makes the pool one that was restored: its original may have used the live slots again
// since, so many times. It judges at the end of the run that none of these handles was issued.
func (w *world) restored(lives int) {
	skips := &shard.RestoredSkips{}
	for h := range w.p.All() {
		skips.Add(Arena(w.p).Table.Pages(), h.Index(), uint32(lives))
		w.line[h.Index()] = h.Generation() + 2*uint32(lives)
	}
	Arena(w.p).KeepSkips(skips, 0)
	before, next := len(w.entries), w.finish
	w.finish = func() error {
		for _, e := range w.entries[before:] {
			if err := w.skipped(e.h); err != nil {
				return err
			}
		}
		if next != nil {
			return next()
		}
		return nil
	}
}

// skipped returns an error if the original of a restored pool may have issued h as well (L8), or if
// there is no such generation.
func (w *world) skipped(h Handle[val]) error {
	if h.Generation() <= w.line[h.Index()] || h.Generation() > slots.LastGeneration {
		return fmt.Errorf("%v is issued; want a generation above %d, which the original may have come to, and at most the last", h, w.line[h.Index()])
	}
	return nil
}
