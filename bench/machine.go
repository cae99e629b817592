package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// circumstances returns the configuration lines of the file of figures.
func circumstances(asked *flags) (lines []benchfmt.Config) {
	for _, line := range [][2]string{
		{"goos", runtime.GOOS},
		{"goarch", runtime.GOARCH},
		{"pkg", "coatcheck/bench"},
		{"cpu", processor("%s (family %s, model %s)", "model name", "cpu family", "model")},
		{"cores", strconv.Itoa(runtime.NumCPU())},
		{"gomaxprocs", strconv.Itoa(runtime.GOMAXPROCS(0))},
		{"go", runtime.Version()},
		{"commit", commit()},
		{"date", time.Now().UTC().Format(time.DateOnly)},
		{"command", command(asked.args)},
		{"note", "cores may be shared with other work: compare figures of one round, within this file"},
	} {
		if line[1] != "" {
			lines = append(lines, benchfmt.Config{Key: line[0], Value: []byte(line[1]), File: true})
		}
	}
	return lines
}

// command returns the command line of this run.
func command(args []string) string {
	words := []string{"go -C bench run ."}
	for _, arg := range args {
		if strings.ContainsAny(arg, " |()") {
			arg = "'" + arg + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// commit returns the commit that the program was built from, with a + if the tree had
// changes, or "". go build puts it into the binary, go run does not; then the working
// directory tells.
func commit() string {
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		return info.Main.Version // "v0.0.0-20261123001122-fa502cf35d93+dirty"
	}
	out, _ := exec.Command("git", "describe", "--always", "--exclude=*", "--abbrev=12", "--dirty=+").Output()
	return strings.TrimSpace(string(out))
}

// processor returns what Linux says of the first processor, such as its name, in a format with a
// verb for each key. The name of a virtual one often says little.
func processor(format string, keys ...string) string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	var values []any
	for _, key := range keys {
		is := regexp.MustCompile(`(?m)^` + key + `\s*: (.*)$`).FindSubmatch(text)
		values = append(values, append(is, nil, nil)[1]) // empty if it says nothing
	}
	return fmt.Sprintf(format, values...)
}

// fileName returns the name of the file of figures. Processors of a model share it, if they
// have as many cores.
func fileName() string {
	kind := processor("%s-family-%s-model-%s", "vendor_id", "cpu family", "model")
	return strings.ToLower(fmt.Sprintf("%s-%s-%d-cores.txt", runtime.GOARCH, kind, runtime.NumCPU()))
}
