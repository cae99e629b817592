// Command instructions counts the machine instructions of operations of pools, stores and tables, and
// compares them with limits.txt.
//
//	go run ./internal/check/instructions # prints the table; fails if a limit is exceeded
//
// A count depends on neither the machine nor its load, so it can be a limit where a time
// cannot. It is the difference of two runs under valgrind, one of which does more operations,
// divided by that. On a machine without valgrind, or other than amd64, the command says so and
// succeeds.
package main

import (
	"bytes"
	_ "embed"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed limits.txt
var limits string

const (
	few, many = 20_000, 120_000

	// A count may be 3 % above its limit, or by three: the assembler pads jumps, so the place of
	// a loop decides about one to three instructions.
	slack   = 1.03
	padding = 3

	// While the command runs, the runtime's monitor runs beside it now and then. On a busy machine that
	// takes longer, and adds an instruction to each operation. So what is above is counted again, and the
	// least counts.
	tries = 3
)

func main() {
	one := flag.String("run", "", "do one operation `name`; for the command itself")
	n := flag.Int("n", few, "how often, with -run")
	flag.Parse()
	if *one != "" {
		operations[*one](*n)
		return
	}
	if _, err := exec.LookPath("valgrind"); err != nil || runtime.GOARCH != "amd64" {
		fmt.Println("instructions: not counted: that needs valgrind, and amd64")
		return
	}
	if err := compare(); err != nil {
		fmt.Fprintln(os.Stderr, "instructions:", err)
		os.Exit(1)
	}
}

// compare prints the table. It returns an error that names the rows above their limits.
func compare() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var above []string
	fmt.Printf("%-32s%8s%8s\n", "instructions an operation", "now", "limit")
	for line := range strings.Lines(limits) {
		name, last, ok := strings.Cut(strings.TrimSpace(line), ":")
		limit, err := strconv.ParseFloat(strings.TrimSpace(last), 64)
		if !ok || err != nil || operations[name] == nil {
			return fmt.Errorf("limits.txt: %q: want the name of an operation, a colon and a number", line)
		}
		most, now := max(limit*slack, limit+padding), math.Inf(1)
		for try := 0; try < tries && now > most; try++ {
			n, err := count(self, name)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			now = min(now, n)
		}
		fmt.Printf("%-32s%8.1f%8.0f\n", name, now, limit)
		if now > most {
			above = append(above, name)
		}
		delete(operations, name)
	}
	unlimited := slices.Sorted(maps.Keys(operations))
	for _, name := range unlimited {
		n, err := count(self, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Printf("%-32s%8.1f%8s\n", name, n, "none")
	}
	if len(above)+len(unlimited) > 0 {
		return fmt.Errorf("above the limit: %q; without a limit: %q", above, unlimited)
	}
	return nil
}

// count returns how many instructions one operation takes.
func count(self, name string) (float64, error) {
	var counts [2]float64
	var errs [2]error
	var wg sync.WaitGroup
	for i, n := range []int{few, many} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			counts[i], errs[i] = collect(self, name, n)
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	return (counts[1] - counts[0]) / (many - few), nil
}

var collected = regexp.MustCompile(`Collected : (\d+)`)

// collect runs the command under valgrind, and returns how many instructions it took.
func collect(self, name string, n int) (float64, error) {
	cmd := exec.Command("valgrind", "--tool=callgrind", "--callgrind-out-file="+os.DevNull,
		self, "-run", name, "-n", strconv.Itoa(n))
	// Preemption and the collector would add instructions now and then.
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOGC=off", "GOMAXPROCS=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	found := collected.FindSubmatch(bytes.TrimSpace(out))
	if found == nil {
		return 0, fmt.Errorf("valgrind did not say how many it collected:\n%s", out)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}
