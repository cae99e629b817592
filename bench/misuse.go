package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"coatcheck/bench/peer"
)

// misuse misuses every peer, as its users may, and writes what came of it: for each a
// comment that says what it is, and a line in the benchmark format, in which
// 1 stale-caught means that a stale name was caught, and 0 that it was not. They belong
// behind the figures, where the file's configuration holds for them.
func misuse(w io.Writer, quick bool) (err error) {
	tries := peer.Tries
	if quick {
		tries = 1 << 10
	}
	for _, p := range peer.All[peer.Rest16]() {
		f, failed := peer.Probe(p, tries)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		_, failed = fmt.Fprintf(w, "# impl=%s %s\nBenchmarkMisuse/impl=%s/goroutines=1 1 %s\n", p.Name, p.What, p.Name, strings.Join(f.Figures(), " "))
		err = errors.Join(err, failed)
	}
	return err
}
