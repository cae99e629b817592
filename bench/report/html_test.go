package report

import (
	"encoding/xml"
	"errors"
	"html"
	"io"
	"regexp"
	"strings"
	"testing"

	"coatcheck/bench/suite"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// htmlOf returns the page. It must be well-formed XML but for HTML's entities and void
// elements.
func htmlOf(t *testing.T, f *Figures, qs []suite.Question) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, HTML(&b, f, qs))
	d := xml.NewDecoder(strings.NewReader(b.String()))
	d.Strict = false
	d.AutoClose = xml.HTMLAutoClose
	d.Entity = xml.HTMLEntity
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return b.String()
		} else {
			require.NoError(t, err)
		}
	}
}

func TestPageIsSelfContained(t *testing.T) {
	f, qs := fixture(t)
	page := htmlOf(t, f, qs)
	for _, no := range []string{"<script", "<link", "<iframe", "<img", "<image", "@import", "url(", "http:", "https:", "src="} {
		assert.False(t, strings.Contains(page, no), "the page has %s", no)
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		assert.False(t, ids[m[1]], "id %s twice", m[1])
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		assert.True(t, strings.HasPrefix(m[1], "#") && ids[m[1][1:]], "href %s", m[1])
	}
	for _, m := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1) {
		assert.NotRegexp(t, "(fill|stroke)", m, "a colour that the dark theme cannot change")
	}
}

// The page shows every loss, and the tables for the terminal every contest.
func TestReportsHideNothing(t *testing.T) {
	f, qs := fixture(t)
	cs := f.contests(qs)
	ls, _ := losses(cs)
	require.NotEmpty(t, ls)
	page := html.UnescapeString(htmlOf(t, f, qs))
	for _, l := range ls {
		assert.True(t, strings.Contains(page, l.row().What), l.row().What)
	}
	var text strings.Builder
	require.NoError(t, Text(&text, f, qs))
	for _, c := range cs {
		assert.True(t, strings.Contains(text.String(), c.row().Ours), c.what())
	}
}

func TestBarsBeginAtZero(t *testing.T) {
	_, v := constructed(t, question(suite.Chart{Unit: "ns/op"}), map[string]float64{"pool": 10, "mutex": 20, "cas": 5})
	g := v.bars(v.cells[0])
	require.Len(t, g.Bars, 3)
	for i, want := range []float64{50, 100, 25} {
		assert.InDelta(t, want, g.Bars[i].Width, 0.6, g.Bars[i].Impl)
	}
}

// Some figures have no place on a logarithmic axis.
func TestChartsOfOddFigures(t *testing.T) {
	for name, lines := range map[string][]string{
		"zero":       {"BenchmarkQ/impl=pool/n=1 1 0 ns/op", "BenchmarkQ/impl=mutex/n=1 1 5 ns/op", "BenchmarkQ/impl=pool/n=2 1 0 ns/op", "BenchmarkQ/impl=mutex/n=2 1 900 ns/op"},
		"all zero":   {"BenchmarkQ/impl=pool/n=1 1 0 ns/op", "BenchmarkQ/impl=mutex/n=2 1 0 ns/op"},
		"negative":   {"BenchmarkQ/impl=pool/n=1 1 -3 ns/op", "BenchmarkQ/impl=mutex/n=1 1 5 ns/op", "BenchmarkQ/impl=mutex/n=2 1 -5 ns/op"},
		"no numbers": {"BenchmarkQ/impl=pool/n=a 1 3 ns/op", "BenchmarkQ/impl=pool/n=b 1 3 ns/op"},
		"the same":   {"BenchmarkQ/impl=pool/n=1 1 3 ns/op", "BenchmarkQ/impl=pool/n=2 1 3 ns/op"},
	} {
		for _, kind := range []suite.Kind{suite.Bars, suite.Lines} {
			page := htmlOf(t, read(t, lines...), []suite.Question{question(suite.Chart{Kind: kind, Unit: "ns/op", X: "n"})})
			assert.NotContains(t, page, "NaN", name)
			assert.NotContains(t, page, "Inf", name)
		}
	}
	require.ErrorIs(t, HTML(io.Discard, &Figures{}, nil), errNone)
}
