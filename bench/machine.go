package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/perf/benchfmt"
)

// circumstances returns the configuration lines of the file of figures.
func circumstances(asked *flags) (lines []benchfmt.Config) {
	for _, line := range [][2]string{
		{"goos", runtime.GOOS},
		{"goarch", runtime.GOARCH},
		{"pkg", "coatcheck/bench"},
		{"cpu", processor()},
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

// cpuinfo returns what Linux says about the first processor: "model name", "cpu family", …
var cpuinfo = sync.OnceValue(func() map[string]string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	first, _, _ := strings.Cut(string(text), "\n\n")
	info := make(map[string]string)
	for line := range strings.Lines(first) {
		key, value, _ := strings.Cut(line, ":")
		info[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return info
})

// processor returns the processor's name, family and model, as far as they are known. The name
// of a virtual one often says little.
func processor() string {
	info := cpuinfo()
	text := info["model name"]
	if info["cpu family"] != "" {
		text += fmt.Sprintf(" (family %s, model %s)", info["cpu family"], info["model"])
	}
	return strings.TrimSpace(text)
}

// fileName returns the name of the file of figures. Processors of a model share it, if they
// have as many cores: "amd-family-25-model-17-2-cores.txt".
func fileName() string {
	kind := runtime.GOARCH
	if info := cpuinfo(); info["cpu family"] != "" {
		vendor := strings.NewReplacer("Authentic", "", "Genuine", "").Replace(info["vendor_id"])
		kind = fmt.Sprintf("%s-family-%s-model-%s", strings.ToLower(vendor), info["cpu family"], info["model"])
	}
	return fmt.Sprintf("%s-%d-cores.txt", kind, runtime.NumCPU())
}
