// Command world grows a meadow, in which plants, seeds and beetles come and go, on
// several workers at once, and draws a picture of it.
//
// It shows what the structures on top of a pool are for, and that a parallel simulation
// can be the same whatever the number of workers. It prints a checksum of everything in
// the world. On a given kind of machine that depends only on the seed, the ticks and the
// plants. Half-way the program saves the world, and continues with the copy that it reads
// back, with the same handles of parts.
//
// Read world.go for the data, tick.go for the order of events, then plant.go, seed.go and
// beetle.go for the rules. snapshot.go saves, checksum.go compares, picture.go draws.
package main

import (
	"bytes"
	"context"
	"errors"
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
	"strconv"
	"time"

	"coatcheck/pool/poolhttp"
	"coatcheck/pool/table"
)

const usage = `usage: world [-seed n] [-ticks n] [-workers n] [-plants n] [-layout soa|aos] [-resume=false] [-o file] [-http address]

World grows a meadow of plants, which compete for light, and of beetles, which
eat their leaves. It prints what became of it and a checksum, which is the same
for a seed whatever the number of workers and the layout.

	-seed n       another meadow; default 1
	-ticks n      how long it lives; default 250
	-workers n    this many goroutines; default: GOMAXPROCS, here %d
	-plants n     how many plants it begins with; default 24
	-layout name  of the table of shapes: soa, a structure of arrays (default), or
	              aos, an array of structures
	-resume=false do not save and read back half-way
	-o file       write a picture of the last tick to this file, as PNG; default
	              meadow.png, and none if it is empty
	-http address show the pool of parts on a page at this address, :0 for any port,
	              while the meadow lives; 25 ticks a second, and without -ticks
	              until it is interrupted
	-h            this text
`

func main() { os.Exit(program(os.Args[1:], os.Stdout, os.Stderr)) }

// options are the options on the command line.
type options struct {
	seed                   uint64
	ticks, workers, plants int
	layout                 table.Layout
	resume                 bool
	picture, http          string
}

func program(args []string, out, said io.Writer) (code int) {
	o, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(out, usage, runtime.GOMAXPROCS(0))
		return 0
	case err != nil:
		fmt.Fprintf(said, "world: %v\n", err)
		fmt.Fprintf(said, usage, runtime.GOMAXPROCS(0))
		return 2
	}
	if err := play(o, out); err != nil {
		fmt.Fprintln(said, "world:", err)
		return 1
	}
	return 0
}

// parse reads the command line.
func parse(args []string) (options, error) {
	o := options{}
	flags := flag.NewFlagSet("world", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Uint64Var(&o.seed, "seed", 1, "")
	flags.IntVar(&o.ticks, "ticks", 250, "")
	flags.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "")
	flags.IntVar(&o.plants, "plants", 24, "")
	layout := flags.String("layout", "soa", "")
	flags.BoolVar(&o.resume, "resume", true, "")
	flags.StringVar(&o.picture, "o", "meadow.png", "")
	flags.StringVar(&o.http, "http", "", "")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	given := false
	flags.Visit(func(f *flag.Flag) { given = given || f.Name == "ticks" })
	if o.http != "" && !given {
		o.ticks = math.MaxInt
	}
	switch *layout {
	case "soa":
		o.layout = table.SoA
	case "aos":
		o.layout = table.AoS
	default:
		return o, fmt.Errorf("no layout %q", *layout)
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.ticks < 0 || o.plants < 0 || o.plants > width:
		return o, fmt.Errorf("%d ticks and %d plants: none may be negative, and there is room for %d plants", o.ticks, o.plants, width)
	case o.workers < 1:
		return o, fmt.Errorf("%d workers: want at least one", o.workers)
	}
	return o, nil
}

// play runs a world from beginning to end.
func play(o options, out io.Writer) error {
	start := time.Now()
	w, err := NewWorld(o.seed, o.workers, o.plants, o.layout)
	if err != nil {
		return err
	}
	wait := func() bool { return true } // for the next tick; false ends the run
	if o.http != "" {
		stop, err := serve(o.http, w, out)
		if err != nil {
			return err
		}
		defer stop()
		ctx, done := signal.NotifyContext(context.Background(), os.Interrupt)
		defer done()
		wait = pace(ctx)
	}
	for w.tick < o.ticks && wait() {
		if err := w.Tick(); err != nil {
			return err
		}
		if o.resume && w.tick == o.ticks/2 {
			var saved bytes.Buffer
			if err := w.Save(&saved); err != nil {
				return err
			}
			size := saved.Len()
			read, err := Load(&saved, o.workers, o.layout)
			if err != nil {
				return err
			}
			same, err := sameHandles(w, read)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "tick %d    saved %d bytes; %d handles, live and stale, mean the same in what was read back\n", w.tick, size, same)
			w = read
			poolhttp.Register(partsName, w.parts)
		}
	}
	fmt.Fprint(out, w.report())
	fmt.Fprintf(out, "checksum    %016x\n", w.Checksum())
	fmt.Fprintf(out, "time        %.1f s by %d workers\n", time.Since(start).Seconds(), o.workers)
	if o.picture == "" {
		return nil
	}
	if err := save(o.picture, w); err != nil {
		return err
	}
	fmt.Fprintln(out, "picture    ", o.picture)
	return nil
}

// partsName is the name of the pool of parts on the page.
const partsName = "parts"

// serve shows the world's pool at the address until stop is called. It prints the URL.
func serve(address string, w *World, out io.Writer) (stop func() error, err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	at := l.Addr().(*net.TCPAddr)
	host := at.IP.String()
	if at.IP.IsUnspecified() {
		host = "localhost"
	}
	fmt.Fprintf(out, "pools       http://%s/\n", net.JoinHostPort(host, strconv.Itoa(at.Port)))
	poolhttp.Register(partsName, w.parts)
	server := &http.Server{Handler: poolhttp.Handler()}
	go server.Serve(l)
	return server.Close, nil
}

// pace returns a function that waits for the next tick. It reports false once ctx is
// done.
func pace(ctx context.Context) func() bool {
	ticker := time.NewTicker(time.Second / 25)
	return func() bool {
		select {
		case <-ticker.C:
			return ctx.Err() == nil
		case <-ctx.Done():
			return false
		}
	}
}

// report describes the world and its history.
func (w *World) report() string {
	kind := [kinds]int{}
	for _, p := range w.parts.All() {
		kind[p.Kind]++
	}
	c := &w.counts
	return fmt.Sprintf(`plants      %d, of %d stems, %d leaves and %d flowers; %d seeds in the air
            grown %d, gone %d, at most %d at a time
beetles     %d, bred %d, starved %d; ate %d times; %d times what they sat on was gone
`, len(w.ground), kind[Stem], kind[Leaf], kind[Flower], w.seeds.Len(),
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

// save writes the picture to a file.
func save(name string, w *World) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	return png.Encode(f, w.Draw())
}
