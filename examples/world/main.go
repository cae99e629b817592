// Command world grows a meadow, in which plants and beetles come and go, on
// several workers at once, and draws a picture of it.
//
// It shows what the structures on top of a pool are for, and that a parallel simulation
// can be the same whatever the number of workers. It prints a checksum of everything in
// the world. On a given kind of machine that depends only on the seed and the ticks.
// Half-way the program saves the world, and continues with the copy that it reads back,
// with the same handles of parts.
//
// Read world.go for the data, tick.go for the order of events, then plant.go and beetle.go
// for the rules. snapshot.go saves, checksum.go compares, picture.go draws.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"time"

	"coatcheck/pool/poolhttp"
)

// options are the options on the command line.
type options struct {
	seed           uint64
	ticks, workers int
	picture, http  string
}

func main() {
	var o options
	flag.Uint64Var(&o.seed, "seed", 1, "each `number` is another meadow")
	flag.IntVar(&o.ticks, "ticks", 1000, "live for `n` ticks; with -http until it is interrupted")
	flag.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "run `n` goroutines")
	flag.StringVar(&o.picture, "o", "meadow.png", "write a picture of the last tick to this `file`, unless it is empty")
	flag.StringVar(&o.http, "http", "", "show the pool of parts on a page at this `address`, such as localhost:0, at no more than 25 ticks a second")
	flag.Parse()
	if flag.NArg() > 0 || o.ticks < 0 || o.workers < 1 {
		fmt.Fprintln(os.Stderr, "world: no arguments, no negative number of ticks, and at least one worker")
		os.Exit(2)
	}
	ctx, done := signal.NotifyContext(context.Background(), os.Interrupt)
	defer done()
	if err := play(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "world:", err)
		os.Exit(1)
	}
}

// play runs a world from beginning to end.
func play(ctx context.Context, o options, out io.Writer) error {
	start := time.Now()
	w, err := NewWorld(o.seed, o.workers, firstPlants)
	if err != nil {
		return err
	}
	half, pause := o.ticks/2, time.Duration(0)
	if o.http != "" {
		l, err := net.Listen("tcp", o.http)
		if err != nil {
			return err
		}
		defer l.Close()
		fmt.Fprintf(out, "pools       http://%s/\n", l.Addr())
		poolhttp.Register("parts", w.parts)
		go http.Serve(l, poolhttp.Handler())
		half, o.ticks, pause = -1, math.MaxInt, time.Second/25
	}
	for w.tick < o.ticks && ctx.Err() == nil {
		time.Sleep(pause)
		if err := w.Tick(); err != nil {
			return err
		}
		if w.tick == half {
			if w, err = continued(w, out); err != nil {
				return err
			}
		}
	}
	fmt.Fprint(out, w.report())
	fmt.Fprintf(out, "checksum    %016x\n", w.Checksum())
	fmt.Fprintf(out, "time        %.1f s by %d workers\n", time.Since(start).Seconds(), o.workers)
	if o.picture == "" {
		return nil
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, w.Draw()); err != nil {
		return err
	}
	if err := os.WriteFile(o.picture, picture.Bytes(), 0o666); err != nil {
		return err
	}
	fmt.Fprintln(out, "picture    ", o.picture)
	return nil
}

// continued saves a world and returns what it reads back.
func continued(w *World, out io.Writer) (*World, error) {
	var saved bytes.Buffer
	if err := w.Save(&saved); err != nil {
		return nil, err
	}
	size := saved.Len()
	read, err := Load(&saved, w.workers)
	if err != nil {
		return nil, err
	}
	same, err := sameHandles(w, read)
	fmt.Fprintf(out, "tick %d    saved %d bytes; %d handles, live and stale, mean the same in what was read back\n", w.tick, size, same)
	return read, err
}

// report describes the world and its history.
func (w *World) report() string {
	kind := [kinds]int{}
	for _, p := range w.parts.All() {
		kind[p.Kind]++
	}
	c := &w.counts
	return fmt.Sprintf(`plants      %d, of %d stems and %d leaves
            grown %d, gone %d, at most %d at a time
beetles     %d, bred %d, starved %d; ate %d times; %d times what they sat on was gone
`, len(w.ground), kind[Stem], kind[Leaf],
		c.Grown, c.Withered, c.PeakParts,
		w.beetles.Len(), c.Bred, c.Starved, c.Eaten, c.RefusedHandles)
}

// sameHandles returns the number of handles in a world, if all of them, live and stale,
// name the same in the other one.
func sameHandles(w, read *World) (n int, err error) {
	handles := w.shapes.Keys()
	for _, b := range w.beetles.Values() {
		handles = append(handles, b.Perch)
	}
	for _, h := range handles {
		var was, is uint64
		w.parts.View(h, func(p *Part) { was = p.ID })
		read.parts.View(h, func(p *Part) { is = p.ID })
		if was != is {
			return n, fmt.Errorf("%v names %x, and %x in what was read back", h, was, is)
		}
		n++
	}
	return n, nil
}
