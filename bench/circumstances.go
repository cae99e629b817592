package main

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// circumstances returns the configuration lines of the file of figures.
func circumstances(asked *flags) (lines []benchfmt.Config) {
	procs := asked.options.Procs
	if len(procs) == 0 {
		procs = []int{runtime.GOMAXPROCS(0)}
	}
	var list []string
	for _, p := range procs {
		list = append(list, strconv.Itoa(p))
	}
	for _, line := range [][2]string{
		{"goos", runtime.GOOS},
		{"goarch", runtime.GOARCH},
		{"pkg", "coatcheck/bench"},
		{"cpu", processor()},
		{"cores", strconv.Itoa(runtime.NumCPU())},
		{"gomaxprocs", strings.Join(list, ",")},
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
		if strings.ContainsAny(arg, " '\"\\|&;()<>$*?[]#~`") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// commit returns the commit that the program was built from, with a + if the tree had
// changes, or "". go build puts it into the binary; otherwise the working directory tells.
func commit() string {
	var revision, modified string
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				revision = s.Value
			case "vcs.modified":
				modified = s.Value
			}
		}
	}
	if revision == "" {
		out, err := exec.Command("git", "rev-parse", "HEAD").Output()
		if err != nil {
			return ""
		}
		revision = strings.TrimSpace(string(out))
		if out, err = exec.Command("git", "status", "--porcelain").Output(); err == nil && len(out) > 0 {
			modified = "true"
		}
	}
	short := revision[:min(12, len(revision))]
	if modified == "true" {
		short += "+"
	}
	return short
}

// processor returns the name of the processor, or "".
func processor() string {
	if runtime.GOOS == "darwin" {
		out, _ := exec.Command("sysctl", "-n", "machdep.cpu.brand_string").Output()
		return strings.TrimSpace(string(out))
	}
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
