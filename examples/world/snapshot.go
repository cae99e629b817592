package main

import (
	"bufio"
	"encoding/gob"
	"fmt"
	"io"

	"coatcheck/pool"
)

// state is a world without its pool of parts. The links between parts are in the parts,
// and handles are the same in the pool that is read back, so the handles here still name
// the same parts.
type state struct {
	Seed    uint64
	Tick    int
	Keys    []pool.Handle[Part] // in the order of the table
	Shapes  []Shape
	Beetles []Beetle
	Counts  counts
}

// Save writes the world, between two ticks.
func (w *World) Save(to io.Writer) error {
	if _, err := w.parts.WriteTo(to); err != nil {
		return err
	}
	s := state{Seed: w.seed, Tick: w.tick, Counts: w.counts, Beetles: w.beetles.Values()}
	for h, shape := range w.shapes.All() {
		s.Keys, s.Shapes = append(s.Keys, h), append(s.Shapes, shape)
	}
	return gob.NewEncoder(to).Encode(&s)
}

// Load reads a world. It continues as the saved one would have, with any number of workers.
func Load(from io.Reader, workers int) (*World, error) {
	in := bufio.NewReader(from)
	parts, err := pool.ReadFrom[Part](in, nil) // reads no byte beyond the snapshot
	if err != nil {
		return nil, err
	}
	var s state
	if err := gob.NewDecoder(in).Decode(&s); err != nil {
		return nil, fmt.Errorf("world: what follows the parts: %w", err)
	}
	w, err := empty(s.Seed, workers, parts)
	if err != nil {
		return nil, err
	}
	w.tick, w.counts = s.Tick, s.Counts
	// All or nothing: a handle that names no part, or comes twice, is refused.
	if len(s.Keys) != len(s.Shapes) || len(s.Keys) != parts.Len() || !w.shapes.AddBatch(s.Keys, s.Shapes) {
		return nil, fmt.Errorf("world: %d parts, of which %d have one of %d shapes", parts.Len(), len(s.Keys), len(s.Shapes))
	}
	for _, b := range s.Beetles {
		if _, err := w.beetles.Create(b); err != nil {
			return nil, err
		}
	}
	w.beetles.Refresh()
	w.survey()
	return w, nil
}
