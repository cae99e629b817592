package main

import (
	"bufio"
	"encoding/gob"
	"fmt"
	"io"

	"coatcheck/pool"
)

// state is a world without its parts and their shapes, which are written before it. The links
// between parts are in the parts, and handles are the same in the pool that is read back, so
// the handles here and in the table still name the same parts.
type state struct {
	Seed    uint64
	Tick    int
	Beetles []Beetle
	Counts  counts
}

// Save writes the world, between two ticks.
func (w *World) Save(to io.Writer) error {
	if _, err := w.parts.WriteTo(to); err != nil {
		return err
	}
	if _, err := w.shapes.WriteTo(to); err != nil {
		return err
	}
	s := state{Seed: w.seed, Tick: w.tick, Counts: w.counts, Beetles: w.beetles.Values()}
	return gob.NewEncoder(to).Encode(&s)
}

// Load reads a world. It continues as the saved one would have, with any number of workers.
func Load(from io.Reader, workers int) (*World, error) {
	in := bufio.NewReader(from)
	parts, err := pool.ReadFrom[Part](in, nil) // reads no byte beyond the snapshot
	if err != nil {
		return nil, err
	}
	w, err := empty(0, workers, parts)
	if err != nil {
		return nil, err
	}
	if _, err := w.shapes.ReadFrom(in); err != nil {
		return nil, err
	}
	if w.shapes.Len() != parts.Len() {
		return nil, fmt.Errorf("world: %d parts, of which %d have a shape", parts.Len(), w.shapes.Len())
	}
	var s state
	if err := gob.NewDecoder(in).Decode(&s); err != nil {
		return nil, fmt.Errorf("world: what follows the parts and shapes: %w", err)
	}
	w.seed, w.tick, w.counts = s.Seed, s.Tick, s.Counts
	for _, b := range s.Beetles {
		if _, err := w.beetles.Create(b); err != nil {
			return nil, err
		}
	}
	w.beetles.Refresh()
	w.survey()
	return w, nil
}
