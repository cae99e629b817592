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

func htmlOf(t *testing.T, f *Figures, qs []suite.Question) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, HTML(&b, f, qs))
	wellFormed(t, b.String())
	return b.String()
}

// wellFormed reads a page as XML, which knows neither of HTML's entities nor of its
// void elements if it is not told.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict = false
	d.AutoClose = xml.HTMLAutoClose
	d.Entity = xml.HTMLEntity
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else {
			require.NoError(t, err)
		}
	}
}

// has is assert.Contains without the whole page in its message.
func has(t *testing.T, page, want string) {
	t.Helper()
	assert.True(t, strings.Contains(page, want), "the page has no %s", want)
}

func TestPageNeedsNothingElse(t *testing.T) {
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
		assert.NotRegexp(t, "(fill|stroke)", m, "every colour is a variable, or dark would not be")
	}
}

// A reader sees the front charts and what is lost before all else.
func TestPageBeginsWithWhatMatters(t *testing.T) {
	f, qs := fixture(t)
	page := html.UnescapeString(htmlOf(t, f, qs))
	front, rest, _ := strings.Cut(page, `<h2 id="lose">`)
	cs := f.contests(f.questions(qs))
	ls, of := losses(cs)
	require.NotEmpty(t, ls)
	has(t, front, score(cs))
	has(t, front, qs[0].Title)
	assert.Equal(t, 2, strings.Count(front, `<div class="chart">`))
	assert.Equal(t, 1, strings.Count(front, "<svg"))
	has(t, rest, lossSummary(ls, of))
	for _, l := range ls {
		has(t, rest, l.row().What)
	}
	has(t, rest, `<td>syncpool</td><td class="no">no</td>`)
	has(t, front, `<div class="bar reference"><span>syncpool</span>`)
}

func TestEachQuestionHasItsChartsAndFigures(t *testing.T) {
	f, qs := fixture(t)
	page := html.UnescapeString(htmlOf(t, f, qs))
	for _, q := range f.questions(qs) {
		_, section, found := strings.Cut(page, `<h2 id="`+q.ID+`"`)
		require.True(t, found, q.ID)
		section, _, _ = strings.Cut(section, "<h2")
		assert.GreaterOrEqual(t, strings.Count(section, `<div class="chart">`), len(f.views(&q)), q.ID)
		has(t, section, q.About)
		for _, s := range f.Series {
			if s.ID == q.ID {
				has(t, section, "<td>"+s.Impl+"</td>")
			}
		}
	}
	assert.NotContains(t, page, `id="Absent"`)
}

// The longest bar of a group is as wide as its column, and the others by their figures.
func TestBarsBeginAtZero(t *testing.T) {
	_, v := constructed(t, question(suite.Chart{Unit: "ns/op"}), map[string]float64{"pool": 10, "mutex": 20, "cas": 5})
	g := v.bars(v.cells[0])
	require.Len(t, g.Bars, 3)
	for i, want := range []float64{50, 100, 25} {
		assert.InDelta(t, want, g.Bars[i].Width, 0.6, g.Bars[i].Impl)
	}
}

// Figures that have no place on a logarithmic axis, or none at all.
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

func TestPictureStandsByItself(t *testing.T) {
	f, qs := fixture(t)
	var b strings.Builder
	require.NoError(t, File(&b, f, &qs[2], qs[2].Charts[0]))
	require.NoError(t, xml.Unmarshal([]byte(b.String()), new(struct{})))
	has(t, b.String(), `xmlns="http://www.w3.org/2000/svg"`)
	has(t, b.String(), "--ours:")
}

func TestTextHasEveryContest(t *testing.T) {
	f, qs := fixture(t)
	var b strings.Builder
	require.NoError(t, Text(&b, f, qs))
	for _, c := range f.contests(f.questions(qs)) {
		has(t, b.String(), c.row().Ours)
	}
}

// Files that older programs wrote can still be read.
func TestKeptResultsAreReadable(t *testing.T) {
	for _, name := range []string{"two-cores.txt", "simulated.txt"} {
		f, err := ReadFile("../results/" + name)
		require.NoError(t, err)
		htmlOf(t, f, nil)
	}
}
