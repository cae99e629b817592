//go:build interleave

package main

import (
	"fmt"
	"slices"
	"strings"
)

// Pictures are 400 wide, to be readable on a phone; texts are 12 high.
const (
	width  = 400
	margin = 12
	line   = 16
)

// style has the colours of the light and the dark theme.
const style = `<style>
:root{--bg:#fff;--ink:#1f2328;--soft:#59636e;--rule:#d1d9e0;--page:#f6f8fa;--red:#d1453b;--blue:#2f6fd6;--green:#2c8a4b;--gold:#c28a00;--plum:#8a4bb8}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--ink:#e6edf3;--soft:#9198a1;--rule:#3d444d;--page:#161b22;--red:#f0736a;--blue:#6ea8ff;--green:#56c271;--gold:#e3b341;--plum:#c297ea}}
text{font:12px system-ui,-apple-system,"Segoe UI","Liberation Sans",sans-serif;fill:var(--ink)}
.m{font:11.5px ui-monospace,"SF Mono",Menlo,"Liberation Mono",monospace}
.b{font-weight:600}.s{fill:var(--soft)}.c{text-anchor:middle}.e{text-anchor:end}
</style>
`

// canvas is an SVG of growing height.
type canvas struct {
	strings.Builder
	y float64
}

// picture is a heading and its steps.
type picture struct {
	name, alt string
	steps     []state
}

// svg draws a picture.
func (p *picture) svg() string {
	var c canvas
	c.y = 4
	for k, s := range p.steps {
		if k > 0 {
			c.y += 8
			c.put(`<path d="M%d %gH%d" stroke="var(--rule)"/>`, margin, c.y, width-margin)
			c.y += 2
		}
		c.step(k+1, &s)
	}
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="%s" width="480" viewBox="0 0 %d %g">`+"\n", escape(p.alt), width, c.y+8)
	back := fmt.Sprintf(`<rect width="%d" height="%g" rx="8" fill="var(--bg)"/>`+"\n", width, c.y+8)
	return head + style + back + c.String() + "</svg>\n"
}

func (c *canvas) put(format string, args ...any) {
	fmt.Fprintf(c, format+"\n", args...)
}

// text writes s with its baseline at y.
func (c *canvas) text(x, y float64, class, s string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	c.put(`<text x="%g" y="%g"%s>%s</text>`, x, y, class, escape(s))
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}

// step draws a caption, an operation, and the state after it.
func (c *canvas) step(n int, s *state) {
	for _, l := range wrap(fmt.Sprintf("%d. %s", n, s.caption), 54) {
		c.y += line
		c.text(margin, c.y, "b", l)
	}
	if s.run != "" {
		for _, l := range strings.Split(s.run, "\n") {
			c.y += line
			c.text(margin, c.y, "m s", l)
		}
	}
	c.y += 8
	if len(s.words) == 0 {
		c.hooks(s)
	}
	for _, w := range s.words {
		c.word(w)
	}
	for _, k := range s.checked {
		c.check(k)
	}
	for _, l := range s.lists {
		if slices.Contains(s.shown, l.name) {
			c.list(l)
		}
	}
	if s.showClock {
		c.clock(s)
	}
}

// wrap breaks a text into lines of at most n characters.
func wrap(s string, n int) (lines []string) {
	for _, word := range strings.Fields(s) {
		if k := len(lines) - 1; k >= 0 && len([]rune(lines[k]+" "+word)) <= n {
			lines[k] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// hooks draws the slots, page by page.
func (c *canvas) hooks(s *state) {
	columns := max(len(s.hooks), s.columns)
	pages := columns / s.page
	const gap = 10
	w := min(92, (width-2*margin-gap*float64(pages-1))/float64(columns))
	const high = 92
	for k := range s.pages {
		x := margin + float64(k)*(w*float64(s.page)+gap)
		c.put(`<rect x="%g" y="%g" width="%g" height="%d" rx="6" fill="var(--page)" stroke="var(--rule)"/>`, x, c.y, w*float64(s.page), high)
		if s.showPages {
			c.text(x+w*float64(s.page)/2, c.y+high+14, "c s", fmt.Sprintf("page %c", 'A'+k))
		}
		for j := range s.page {
			if i := k*s.page + j; i < len(s.hooks) {
				c.hook(x+w*float64(j), c.y, w, &s.hooks[i])
			}
		}
	}
	c.y += high
	if s.showPages {
		c.y += line
	}
}

// hook draws a slot: its index, its coat, its word, and its place.
func (c *canvas) hook(x, y, w float64, h *hook) {
	mid := x + w/2
	c.text(x+6, y+15, "b", fmt.Sprint(h.index))
	c.put(`<path d="M%g %gv5a4 4 0 1 0 4 4" fill="none" stroke="var(--soft)" stroke-width="1.6"/>`, mid, y+4)
	if h.coat != "" {
		look := ""
		if h.place != "live" {
			look = ` opacity="0.45" stroke-dasharray="3 2"`
		}
		c.coat(mid, y+16, h.coat, look)
	}
	if h.seen {
		c.eye(x+w-12, y+12)
	}
	high, low := h.word()
	c.put(`<rect x="%g" y="%g" width="%g" height="16" rx="3" fill="var(--bg)" stroke="var(--rule)"/>`, x+4, y+57, w-8)
	c.put(`<path d="M%g %gv16" stroke="var(--rule)"/>`, mid, y+57)
	c.text(x+4+(w-8)/4, y+69, "m c", high)
	c.text(x+4+(w-8)*3/4, y+69, "m c", low)
	class := "c s"
	if h.place == "live" {
		class = "c b"
	}
	c.text(mid, y+87, class, h.place)
}

// word draws 64 bits as their halves, with the meaning of each.
func (c *canvas) word(w word) {
	const left, half, high = margin + 104, 136, 20
	y := c.y
	c.text(margin, y+14, "", w.name)
	c.put(`<path d="M%d %gh%dv%dh-%dz" fill="var(--page)" stroke="var(--ink)"/><path d="M%d %gv%d" stroke="var(--ink)"/>`,
		left, y, 2*half, high, 2*half, left+half, y, high)
	c.text(left+half/2, y+14, "m c", w.high)
	c.text(left+half*3/2, y+14, "m c", w.low)
	c.text(left+half/2, y+high+13, "s c", w.highIs)
	c.text(left+half*3/2, y+high+13, "s c", w.lowIs)
	c.y += high + 22
}

func (c *canvas) coat(x, y float64, colour coat, look string) {
	c.put(`<path d="M%g %gl-7 3-10 19 5 3 4-6v18h16v-18l4 6 5-3-10-19z" fill="var(--%s)" stroke="var(--%s)" stroke-linejoin="round"%s/>`,
		x, y, colour, colour, look)
}

func (c *canvas) eye(x, y float64) {
	c.put(`<path d="M%g %gq8-9 16 0q-8 9-16 0z" fill="var(--bg)" stroke="var(--ink)" stroke-width="1.4"/><circle cx="%g" cy="%g" r="2.6" fill="var(--ink)"/>`, x-8, y, x, y)
}

// check draws a ticket and whether it is accepted.
func (c *canvas) check(k check) {
	c.y += 8
	y := c.y
	w := 58.0
	text := k.ticket.String()
	if len(text) > 8 {
		w = 92
	}
	c.put(`<path d="M%d %gh%gv6a4 4 0 0 0 0 8v6h-%gv-6a4 4 0 0 0 0-8z" fill="none" stroke="var(--ink)"/>`, margin, y, w, w)
	c.text(margin+w/2, y+14, "m c", text)
	answer := "refused"
	if k.ok {
		answer = "the " + string(k.coat) + " coat"
	}
	c.text(margin+w+10, y+14, "", "→ "+answer)
	c.y += 20
}

// list draws a list of vacant slots.
func (c *canvas) list(l list) {
	c.y += 6
	y := c.y
	c.text(margin, y+14, "", l.name)
	x := float64(margin + 72)
	if len(l.slots) == 0 {
		c.text(x, y+14, "s", "–")
	}
	for k, i := range l.slots {
		if k > 0 {
			c.put(`<path d="M%g %gh12m-4-4 4 4-4 4" fill="none" stroke="var(--soft)"/>`, x-13, y+10)
		}
		c.put(`<rect x="%g" y="%g" width="24" height="20" rx="4" fill="var(--page)" stroke="var(--ink)"/>`, x, y)
		c.text(x+12, y+14, "b c", fmt.Sprint(i))
		x += 38
	}
	if l.note != "" && len(l.slots) > 0 {
		c.text(x-4, y+14, "s", l.note)
	}
	c.y += 20
}

// clock draws the epochs, the current one, and guards from their epoch on.
func (c *canvas) clock(s *state) {
	c.y += 30
	y := c.y
	const left, step = margin + 60, 48
	at := func(e uint64) float64 { return left + float64(e)*step }
	c.text(margin, y+4, "s", "epochs")
	c.put(`<path d="M%d %gH%d" stroke="var(--soft)"/>`, left, y, width-margin)
	for e := uint64(0); at(e) < width-margin; e++ {
		c.put(`<path d="M%g %gv8" stroke="var(--soft)"/>`, at(e), y-4)
		c.text(at(e), y+17, "c s", fmt.Sprint(e))
	}
	c.text(at(s.epoch), y-8, "c b", "E")
	c.y += 20
	for _, g := range s.guards {
		c.y += 18
		c.eye(at(g.epoch), c.y-4)
		c.put(`<path d="M%g %gH%d" stroke="var(--ink)" stroke-width="2"/>`, at(g.epoch)+10, c.y-4, width-margin)
		c.text(margin, c.y, "", g.name)
	}
	c.y = slices.Max([]float64{c.y, y + 20})
}
