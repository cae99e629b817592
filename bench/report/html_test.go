package report

import (
	"encoding/xml"
	"errors"
	"html"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"coatcheck/bench/suite"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func htmlOf(t *testing.T, f *Figures, qs []suite.Question, old *Figures) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, HTML(&b, f, qs, old))
	return b.String()
}

// has is assert.Contains without the whole page in its message.
func has(t *testing.T, page, want string) {
	t.Helper()
	assert.True(t, strings.Contains(page, want), "the page has no %s", want)
}

func hasNot(t *testing.T, page, no string) {
	t.Helper()
	assert.False(t, strings.Contains(page, no), "the page has %s", no)
}

// wellFormed reads a page as XML, which knows neither of HTML's entities nor of its
// void elements if it is not told.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict = false
	d.AutoClose = xml.HTMLAutoClose
	d.Entity = xml.HTMLEntity
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch e := token.(type) {
		case xml.StartElement:
			open = append(open, e.Name.Local)
		case xml.EndElement:
			require.NotEmpty(t, open)
			require.Equal(t, open[len(open)-1], e.Name.Local)
			open = open[:len(open)-1]
		}
	}
	assert.Empty(t, open)
}

func TestPageNeedsNothingElse(t *testing.T) {
	f, qs := fixture(t)
	page := htmlOf(t, f, qs, f)
	wellFormed(t, page)
	for _, no := range []string{"<script", "<link", "<iframe", "<img", "<image", "@import", "url(", "http:", "https:", "src="} {
		hasNot(t, page, no)
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		assert.False(t, ids[m[1]], "id %s twice", m[1])
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		assert.True(t, strings.HasPrefix(m[1], "#") && ids[m[1][1:]], "href %s", m[1])
	}
	for i := range allTones() {
		has(t, page, "--t"+strconv.Itoa(i)+":")
	}
	for _, m := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1) {
		assert.NotRegexp(t, `(fill|stroke):#[0-9A-F]{6}`, m, "every colour is a variable, or dark would not be")
	}
}

func TestEachQuestionHasItsChartAndSentence(t *testing.T) {
	f, qs := fixture(t)
	page := htmlOf(t, f, qs, nil)
	for _, q := range f.questions(qs) {
		start := strings.Index(page, `<h2 id="`+q.ID+`"`)
		require.Positive(t, start, q.ID)
		section := page[start:]
		if end := strings.Index(section[1:], "<h2"); end > 0 {
			section = section[:end]
		}
		views := f.views(&q)
		require.NotEmpty(t, views)
		assert.GreaterOrEqual(t, strings.Count(section, "<svg"), len(views), q.ID)
		for _, v := range views {
			has(t, html.UnescapeString(section), v.sentence())
		}
		has(t, section, q.About)
		has(t, section, "<details>")
	}
	hasNot(t, page, "Absent")
	has(t, page, `id="scaling"`)
	hasNot(t, page, `id="compared"`)
}

// The figures in the page's tables are the medians of the file's rounds.
func TestTableHasTheMedians(t *testing.T) {
	f, qs := fixture(t)
	page := html.UnescapeString(htmlOf(t, f, qs, nil))
	var checked int
	for _, q := range f.questions(qs) {
		table := f.table(&q)
		for _, r := range table.Rows {
			for _, c := range r.Cells {
				if c.Exact != "" {
					has(t, page, `title="`+c.Exact+`">`+c.Value)
				}
			}
		}
	}
	for _, s := range f.Series {
		if s.ID == misuseID {
			continue
		}
		for u, rounds := range s.Rounds {
			sorted := slices.Sorted(slices.Values(rounds))
			require.Equal(t, 1, len(sorted)%2, "the fixture has an odd number of rounds")
			median := strconv.FormatFloat(sorted[len(sorted)/2], 'g', -1, 64)
			has(t, page, `title="`+median+" "+u+`"`)
			checked++
		}
	}
	assert.Greater(t, checked, 200)
}

func TestPageListsLossesAndMisuse(t *testing.T) {
	f, qs := fixture(t)
	page := html.UnescapeString(htmlOf(t, f, qs, nil))
	ls, of := f.losses(f.questions(qs))
	require.NotEmpty(t, ls)
	has(t, page, lossSummary(ls, of))
	for _, l := range ls {
		has(t, page, l.what())
	}
	has(t, page, `<td>syncpool</td><td class="no">no</td>`)

	q := question(suite.Chart{Unit: "ns/op"})
	won, _ := constructed(t, q, map[string]float64{"pool": 1, "mutex": 2})
	has(t, htmlOf(t, won, []suite.Question{q}, nil), "Nowhere: in none of 1 comparisons")
}

func TestContestantsKeepTheirColours(t *testing.T) {
	f, qs := fixture(t)
	looks := f.looks(qs)
	seen := map[string]string{}
	for impl, l := range looks {
		key := l.tone.light + string(rune('0'+l.dash))
		assert.Empty(t, seen[key], "%s and %s look alike", impl, seen[key])
		seen[key] = impl
		blue := false
		for _, tone := range oursTones {
			blue = blue || tone == l.tone
		}
		assert.Equal(t, l.role == suite.Ours, blue, impl)
	}
	assert.Equal(t, looks, f.looks(qs))
}

// Figures that have no place on a logarithmic axis, or none at all.
func TestChartsOfOddFigures(t *testing.T) {
	for name, lines := range map[string][]string{
		"zero":       {"BenchmarkQ/impl=pool/n=1 1 0 ns/op", "BenchmarkQ/impl=mutex/n=1 1 5 ns/op", "BenchmarkQ/impl=pool/n=2 1 0 ns/op", "BenchmarkQ/impl=mutex/n=2 1 900 ns/op"},
		"all zero":   {"BenchmarkQ/impl=pool/n=1 1 0 ns/op", "BenchmarkQ/impl=mutex/n=2 1 0 ns/op"},
		"negative":   {"BenchmarkQ/impl=pool/n=1 1 -3 ns/op", "BenchmarkQ/impl=mutex/n=1 1 5 ns/op", "BenchmarkQ/impl=mutex/n=2 1 -5 ns/op"},
		"only below": {"BenchmarkQ/impl=pool/n=1 1 -3 ns/op", "BenchmarkQ/impl=pool/n=2 1 -3 ns/op"},
		"one":        {"BenchmarkQ/impl=pool 1 3 ns/op"},
		"words":      {"BenchmarkQ/impl=pool/n=few 1 3 ns/op", "BenchmarkQ/impl=pool/n=many 1 4 ns/op"},
		"far apart":  {"BenchmarkQ/impl=pool/n=1 1 1 ns/op", "BenchmarkQ/impl=mutex/n=1 1 1000000000 ns/op"},
		"no impl":    {"BenchmarkQ/n=1 1 1 ns/op", "BenchmarkQ/n=2 1 1 ns/op"},
		"same":       {"BenchmarkQ/impl=pool/n=1 1 7 ns/op", "BenchmarkQ/impl=pool/n=2 1 7 ns/op"},
		"markup":     {"BenchmarkQ/impl=<b>&\"x/n=1 1 7 ns/op", "BenchmarkQ/impl=<b>&\"x/n=2 1 7 ns/op"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []suite.Kind{suite.Bars, suite.Lines} {
				q := question(suite.Chart{Kind: kind, Unit: "ns/op", X: "n"}, suite.Chart{Kind: kind, Unit: "efficiency", X: "n"}, suite.Chart{Kind: kind, Unit: "ops/s", X: "n"})
				page := htmlOf(t, read(t, lines...), []suite.Question{q}, nil)
				wellFormed(t, page)
				hasNot(t, page, "NaN")
				hasNot(t, page, "Inf")
				hasNot(t, page, "<b>")
				has(t, page, "<svg")
				require.NoError(t, Text(io.Discard, read(t, lines...), []suite.Question{q}, Style{}))
			}
		})
	}
}

func TestPageOfNothing(t *testing.T) {
	require.ErrorIs(t, HTML(io.Discard, &Figures{}, nil, nil), errNone)
}

func TestPageCompares(t *testing.T) {
	f, qs := fixture(t)
	raw, err := os.ReadFile("testdata/figures.txt")
	require.NoError(t, err)
	old, err := Read(strings.NewReader(strings.ReplaceAll(string(raw), "cpu: Example CPU @ 2.50GHz", "cpu: Another")), "old.txt")
	require.NoError(t, err)
	page := htmlOf(t, f, qs, old)
	has(t, page, "Compared with old.txt")
	has(t, page, "cpu was Another and is Example CPU")
	has(t, page, "geomean")
}
