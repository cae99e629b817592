package poolhttp

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"time"

	"coatcheck/pool"
)

//go:embed page.html
var pageText string

//go:embed page.css
var style string

//go:embed page.js
var script string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"grouped": grouped,
	"bytes":   inBytes,
	"share":   share,
	"age":     age,
}).Parse(pageText))

// policy lets the browser run and fetch only what the page contains.
var policy = fmt.Sprintf("default-src 'none'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "+
	"style-src '%s'; script-src '%s'", hash(style), hash(script))

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// page is the data of page.html.
type page struct {
	Program string
	At      time.Time
	Took    time.Duration // to collect the figures of all pools
	Bytes   int64
	Stacks  bool // whether a pool tells who holds what
	Pools   []card
	Style   template.CSS
	Script  template.JS
}

// card is a pool on the page.
type card struct {
	Name, Type string
	Stats      pool.Stats
	Bounded    bool
	Layers     []layer
	Chart      chart
	Health     health
	Oldest     string // the age of the oldest value; empty where it is not told
	Open       string
}

// Refused returns how many insertions were refused.
func (c card) Refused() int {
	return c.Stats.RefusedFull + c.Stats.RefusedStalled + c.Stats.RefusedExhausted
}

// layer is a line of a card's legend.
type layer struct {
	Name, What string
	Slots      int
}

// current collects the figures of all pools.
func current() page {
	v := page{
		Program: filepath.Base(os.Args[0]),
		At:      time.Now(),
		Style:   template.CSS(style),
		Script:  template.JS(script),
	}
	for e, p := range registered() {
		st, samples := e.look(p)
		c := cardOf(e.name, e.values, st, samples)
		if d, ok := oldest(p); ok {
			c.Oldest = age(d)
		}
		c.Open = open(p)
		v.Pools = append(v.Pools, c)
		v.Bytes += st.Bytes
		v.Stacks = v.Stacks || c.Open != ""
	}
	v.Took = time.Since(v.At)
	v.Took = v.Took.Round(time.Microsecond)
	return v
}

// pause takes the place of the pause in a page whose text is not finished.
const pause = "data-every=\"0\""

// render writes the page. What it costs as a whole decides how often a browser asks for it again: an open
// page takes at most a twentieth of a processor.
func render(b *bytes.Buffer) error {
	began := time.Now()
	var text bytes.Buffer
	if err := pageTemplate.Execute(&text, current()); err != nil {
		return err
	}
	head, tail, _ := bytes.Cut(text.Bytes(), []byte(pause))
	b.Write(head)
	fmt.Fprintf(b, "data-every=\"%d\"", max(interval, 20*time.Since(began)).Milliseconds())
	b.Write(tail)
	return nil
}

// cardOf returns the card of a pool that has these figures.
func cardOf(name, values string, st pool.Stats, samples history) card {
	c := card{Name: name, Type: values, Stats: st, Bounded: st.Capacity < pool.MaxCapacity, Chart: draw(samples), Health: judge(st, samples)}
	for _, l := range layers {
		c.Layers = append(c.Layers, layer{l.Name, l.What, l.Of(st)})
	}
	return c
}

// grouped formats a whole number with commas.
func grouped(n any) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// inBytes formats a size in the unit that leaves one to four digits before the point.
func inBytes(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n)/1024, 0
	for ; f >= 1024; unit++ {
		f /= 1024
	}
	return fmt.Sprintf("%.1f %ciB", f, units[unit])
}

// share formats a fraction in per cent.
func share(f float64) string {
	switch {
	case f == 0 || f == 1:
		return fmt.Sprintf("%.0f %%", 100*f)
	case f < 0.0001:
		return "< 0.01 %"
	}
	return fmt.Sprintf("%.2f %%", min(100*f, 99.99))
}
