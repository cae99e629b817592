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
	procs := asked.Procs
	if len(procs) == 0 {
		procs = []int{runtime.GOMAXPROCS(0)}
	}
	quick := ""
	if asked.Quick {
		quick = "every case once: the figures mean nothing"
	}
	for _, line := range [][2]string{
		{"goos", runtime.GOOS},
		{"goarch", runtime.GOARCH},
		{"pkg", "coatcheck/bench"},
		{"cpu", processor()},
		{"cores", strconv.Itoa(runtime.NumCPU())},
		{"gomaxprocs", strings.Trim(strings.ReplaceAll(fmt.Sprint(procs), " ", ","), "[]")},
		{"go", runtime.Version()},
		{"commit", commit()},
		{"date", time.Now().UTC().Format(time.DateOnly)},
		{"command", command(asked.args)},
		{"quick", quick},
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
		if strings.ContainsAny(arg, " '\"\\|&;()<>$*?[]#~`") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
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

var model = regexp.MustCompile(`(?m)^model name\s*: *(.*?) *$`)

// processor returns the name of the processor on Linux, or "".
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	if name := model.FindSubmatch(text); name != nil {
		return string(name[1])
	}
	return ""
}
