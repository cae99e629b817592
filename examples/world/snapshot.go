package main

import (
	"bufio"
	"encoding/gob"
	"fmt"
	"io"

	"coatcheck/pool"
	"coatcheck/pool/table"
)

// state is what a world is beside its pool of parts. The links between parts are
// in the parts, and handles are the same in the pool that is read back: what names
// parts here goes on naming them.
type state struct {
	Seed    uint64
	Tick    int
	Keys    []pool.Handle[Part] // in the order of the table
	Shapes  []Shape
	Seeds   []Seed
	Beetles []Beetle
	Counts  counts
}

// Save writes the world, between two ticks.
func (w *World) Save(to io.Writer) error {
	if _, err := w.parts.WriteTo(to); err != nil {
		return err
	}
	s := state{
		Seed: w.seed, Tick: w.tick, Counts: w.counts,
		Seeds: w.seeds.Values(), Beetles: w.beetles.Values(),
	}
	for h, shape := range w.shapes.All() {
		s.Keys, s.Shapes = append(s.Keys, h), append(s.Shapes, shape)
	}
	return gob.NewEncoder(to).Encode(&s)
}

// Load reads a world that goes on as the one that was saved would have, under
// any number of workers and either layout.
func Load(from io.Reader, workers int, layout table.Layout) (*World, error) {
	in := bufio.NewReader(from)
	parts, err := pool.ReadFrom[Part](in, nil) // and not a byte more
	if err != nil {
		return nil, err
	}
	var s state
	if err := gob.NewDecoder(in).Decode(&s); err != nil {
		return nil, fmt.Errorf("world: what follows the parts: %w", err)
	}
	w, err := empty(s.Seed, workers, layout, parts)
	if err != nil {
		return nil, err
	}
	w.tick, w.counts = s.Tick, s.Counts
	// All of it, or nothing: a handle that is no part, or is there twice, is refused.
	if len(s.Keys) != len(s.Shapes) || len(s.Keys) != parts.Len() || !w.shapes.AddBatch(s.Keys, s.Shapes) {
		return nil, fmt.Errorf("world: %d parts, of which %d have one of %d shapes", parts.Len(), len(s.Keys), len(s.Shapes))
	}
	for _, seed := range s.Seeds {
		if _, err := w.seeds.Create(seed); err != nil {
			return nil, err
		}
	}
	for _, b := range s.Beetles {
		if _, err := w.beetles.Create(b); err != nil {
			return nil, err
		}
	}
	w.seeds.Refresh()
	w.beetles.Refresh()
	w.survey()
	return w, nil
}
