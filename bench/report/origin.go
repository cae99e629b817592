package report

import "strings"

// origin says in a line where the figures come from.
func (f *Figures) origin() string {
	var parts []string
	for _, o := range f.origins() {
		parts = append(parts, o.value)
	}
	return strings.Join(parts, " · ")
}

// origins returns what the file says of its own origin: machine, Go, commit, date,
// command.
func (f *Figures) origins() (os []struct{ key, value string }) {
	c := f.Config
	add := func(key, value string) {
		if value = strings.TrimSpace(value); value != "" {
			os = append(os, struct{ key, value string }{key, value})
		}
	}
	machine := c["cpu"]
	if n := c["cores"]; n != "" {
		machine += ", " + n + " cores"
	}
	if c["goos"] != "" {
		machine += ", " + c["goos"] + "/" + c["goarch"]
	}
	add("machine", strings.TrimPrefix(machine, ", "))
	add("go", c["go"])
	add("commit", c["commit"])
	add("date", c["date"])
	add("command", c["command"])
	return
}
