package main

import (
	"os/exec"
	"runtime"
)

// burn starts a busy process for each processor. stop ends them; they also end when this
// process does.
func burn() (stop func(), err error) {
	var all []*exec.Cmd
	stop = func() {
		for _, c := range all {
			_ = c.Process.Kill()
			_ = c.Wait() // reports that it was killed
		}
	}
	for range runtime.NumCPU() {
		c := exec.Command("sh", "-c", "while kill -0 $PPID; do :; done")
		if err := c.Start(); err != nil {
			stop()
			return nil, err
		}
		all = append(all, c)
	}
	return stop, nil
}
