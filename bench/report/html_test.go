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
	for _, no := range []string{"<script", "<link", "<iframe", "<img", "<image", "@import", "url(", "https:", "src="} {
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
		assert.NotRegexp(t, "(fill|stroke):(#|rgb)", m, "a colour that the dark theme cannot change")
	}
}

// The page and the tables for the terminal show every loss and every contest.
func TestReportsHideNothing(t *testing.T) {
	f, qs := fixture(t)
	cs := f.contests(qs)
	o := judge(cs)
	rows := append(o.Losses.Rows, o.Contests.Rows...)
	require.Greater(t, len(rows), len(cs))
	page := html.UnescapeString(htmlOf(t, f, qs))
	var text strings.Builder
	require.NoError(t, Text(&text, f, qs))
	for _, r := range rows {
		for _, cell := range r.Texts {
			assert.True(t, strings.Contains(page, cell), cell)
			assert.True(t, strings.Contains(text.String(), cell), cell)
		}
	}
}

func TestBarsBeginAtZero(t *testing.T) {
	_, v := constructed(t, question(suite.Chart{Unit: "ns/op"}), map[string]float64{"pool": 10, "mutex": 20, "cas": 5})
	for i, want := range []float64{50, 100, 25} {
		r := v.Cells[0].Rows[i]
		assert.InDelta(t, want, v.Cells[0].Part(r.Mid), 0.6, r.Impl)
	}
}

// Bars may be zero, and lines may have one figure each.
func TestChartsOfOddFigures(t *testing.T) {
	for _, c := range []struct {
		kind    suite.Kind
		figures string
	}{
		{suite.Bars, "pool/n=1 1 0,mutex/n=1 1 5"},
		{suite.Bars, "pool/n=1 1 0,mutex/n=1 1 0"},
		{suite.Lines, "pool/n=1 1 3,mutex/n=1 1 5"},
		{suite.Lines, "pool/n=1 1 3,pool/n=2 1 3"},
	} {
		f := read(t, "BenchmarkQ/impl="+strings.ReplaceAll(c.figures, ",", " ns/op\nBenchmarkQ/impl=")+" ns/op")
		page := htmlOf(t, f, []suite.Question{question(suite.Chart{Kind: c.kind, Unit: "ns/op", X: "n"})})
		assert.NotContains(t, page, "NaN", c.figures)
		assert.NotContains(t, page, "Inf", c.figures)
	}
	require.Error(t, HTML(io.Discard, &Figures{}, nil))
}
