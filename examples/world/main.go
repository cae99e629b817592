// Command world grows a meadow, in which plants, grains and beetles come and go, on
// several workers at once, and draws a picture of it.
//
// It shows what the structures on top of a pool are for, and that a parallel simulation
// can be the same whatever the number of workers. It prints a checksum of everything in
// the world. On a given kind of machine that depends only on the seed, the ticks and the
// plants. Half-way the program saves the world, and continues with the copy that it reads
// back, with the same handles of parts.
//
// Read world.go for the data, tick.go for the order of events, then plant.go, grain.go and
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

func main() { os.Exit(program(os.Args[1:], os.Stdout, os.Stderr)) }

// options are the options on the command line.
type options struct {
	seed           uint64
	ticks, workers int
	resume         bool
	picture, http  string
}

// program is the program without its process: it returns the exit status.
func program(args []string, stdout, stderr io.Writer) (code int) {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	if err := play(o, stdout); err != nil {
		fmt.Fprintln(stderr, "world:", err)
		return 1
	}
	return 0
}

// parse reads the command line, and explains to stderr what is wrong with it.
func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("world", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Uint64Var(&o.seed, "seed", 1, "each `number` is another meadow")
	flags.IntVar(&o.ticks, "ticks", 250, "live for `n` ticks; with -http the default is until it is interrupted")
	flags.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "run `n` goroutines")
	flags.BoolVar(&o.resume, "resume", true, "save and read back half-way")
	flags.StringVar(&o.picture, "o", "meadow.png", "write a picture of the last tick to this `file`, unless it is empty")
	flags.StringVar(&o.http, "http", "", "show the pool of parts on a page at this `address`, :0 for any port, at no more than 25 ticks a second")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	given := false
	flags.Visit(func(f *flag.Flag) { given = given || f.Name == "ticks" })
	if o.http != "" && !given {
		o.ticks = math.MaxInt
	}
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.ticks < 0:
		err = fmt.Errorf("%d ticks: none may be negative", o.ticks)
	case o.workers < 1:
		err = fmt.Errorf("%d workers: want at least one", o.workers)
	}
	if err != nil {
		fmt.Fprintln(stderr, "world:", err)
		flags.Usage()
	}
	return o, err
}

// play runs a world from beginning to end.
func play(o options, out io.Writer) error {
	start := time.Now()
	w, err := NewWorld(o.seed, o.workers, firstPlants, table.SoA)
	if err != nil {
		return err
	}
	ctx, done := signal.NotifyContext(context.Background(), os.Interrupt)
	defer done()
	var pause time.Duration // before each tick
	if o.http != "" {
		stop, err := serve(o.http, w, out)
		if err != nil {
			return err
		}
		defer stop()
		pause = time.Second / 25
	}
	for w.tick < o.ticks && ctx.Err() == nil {
		time.Sleep(pause)
		if err := w.Tick(); err != nil {
			return err
		}
		if o.resume && w.tick == o.ticks/2 {
			var saved bytes.Buffer
			if err := w.Save(&saved); err != nil {
				return err
			}
			size := saved.Len()
			read, err := Load(&saved, o.workers, table.SoA)
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

// report describes the world and its history.
func (w *World) report() string {
	kind := [kinds]int{}
	for _, p := range w.parts.All() {
		kind[p.Kind]++
	}
	c := &w.counts
	return fmt.Sprintf(`plants      %d, of %d stems, %d leaves and %d flowers; %d grains in the air
            grown %d, gone %d, at most %d at a time
beetles     %d, bred %d, starved %d; ate %d times; %d times what they sat on was gone
`, len(w.ground), kind[Stem], kind[Leaf], kind[Flower], w.grains.Len(),
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
