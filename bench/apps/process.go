package apps

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

// Figures are what a process says about the program that it ran.
type Figures struct {
	Outcome
	Wall        time.Duration
	Collections uint32
	Peak        int64 // resident memory, at most; 0 if it is not known
}

// Child runs a program in this process, and writes its figures to w for Process. If profile
// is not "", it names a file for the profile of the processor.
func Child(w io.Writer, name string, l Load, profile string) error {
	run, err := Find(name)
	if err != nil {
		return err
	}
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	begin := time.Now()
	f := Figures{Outcome: run(l), Wall: time.Since(begin), Peak: peak()}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.Collections = m.NumGC
	return json.NewEncoder(w).Encode(f)
}

// peak returns the most resident memory that this process had, where Linux tells. That of
// wait4 would count the parent's memory, in which the child was born.
func peak() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, _ := strconv.ParseInt(fields[0], 10, 64)
	return kilobytes << 10
}

// Process runs a program in a process of its own, beside spinning ones, and returns its figures
// by their unit.
func Process(name string, l Load, spinning int) (figures map[string]float64, sum uint64, ops int, err error) {
	stop, err := spin(spinning)
	if err != nil {
		return nil, 0, 0, err
	}
	defer stop()
	cmd, err := self("-app", name, "-goroutines", strconv.Itoa(l.Goroutines), "-tiny="+strconv.FormatBool(l.Quick))
	if err != nil {
		return nil, 0, 0, err
	}
	var said, complained bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complained
	if err := cmd.Run(); err != nil {
		return nil, 0, 0, fmt.Errorf("%w\n%s", err, complained.String())
	}
	var f Figures
	if err := json.Unmarshal(said.Bytes(), &f); err != nil {
		return nil, 0, 0, err
	}
	if f.Ops < 1 {
		return nil, 0, 0, errors.New("the program did nothing")
	}
	busy := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	figures = map[string]float64{
		"ns/op":     float64(f.Wall) / float64(f.Ops),
		"cpu-ns/op": float64(busy) / float64(f.Ops),
		"peak-B":    float64(f.Peak),
		"gcs":       float64(f.Collections),
	}
	if f.Saved > 0 {
		figures["saved-B"] = float64(f.Saved)
	}
	return figures, f.Sum, f.Ops, nil
}

// spin starts processes that use up a processor each, if they get one. stop ends them.
func spin(n int) (stop func(), err error) {
	var ends []func()
	stop = func() {
		for _, end := range ends {
			end()
		}
	}
	for range n {
		cmd, err := self("-spin")
		if err != nil {
			stop()
			return nil, err
		}
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		alive, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			stop()
			return nil, err
		}
		ends = append(ends, func() {
			alive.Close()
			cmd.Process.Kill()
			cmd.Wait()
		})
	}
	return stop, nil
}

// Spin spins until r ends, as standard input does if the parent dies.
func Spin(r io.Reader) {
	go func() {
		io.Copy(io.Discard, r)
		os.Exit(0)
	}()
	for {
	}
}

// self returns a command that starts this program again.
func self(args ...string) (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.Command(path, args...), nil
}
