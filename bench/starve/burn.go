package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
)

// burner is the environment variable that makes this program a busy process.
const burner = "COATCHECK_BURN"

// burnIfTold does not return if the environment has burner: it keeps a processor busy until
// its standard input ends, at the latest when the parent process does.
func burnIfTold() {
	if os.Getenv(burner) == "" {
		return
	}
	runtime.GOMAXPROCS(2) // one for the goroutine that reads
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		runtime.Gosched()
	}
}

// burn starts a busy process for each processor. stop ends them.
func burn() (stop func() error, err error) {
	var stops []func() error
	stop = func() (err error) {
		for _, s := range stops {
			err = errors.Join(err, s())
		}
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return stop, err
	}
	for range runtime.NumCPU() {
		c := exec.Command(self)
		c.Env = append(os.Environ(), burner+"=1")
		in, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			return stop, errors.Join(err, stop())
		}
		stops = append(stops, func() error { return errors.Join(in.Close(), c.Wait()) })
	}
	return stop, nil
}
