package report

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/bench/suite"
)

// The references are the fastest, and no verdict is about them.
func TestLossesAreExactlyThoseBeyondTheNoise(t *testing.T) {
	values := map[string]float64{
		"pool/live=1": 10, "worker/live=1": 50, "mutex/live=1": 8, "ark/live=1": 2, "cgo/live=1": 11, "cas/live=1": 1, "locked/live=1": 0.5,
		"pool/live=2": 10, "worker/live=2": 6, "mutex/live=2": 9, "syncmap/live=2": 10,
		"worker/live=3": 60, "mutex/live=3": 40, "loop/live=3": 1,
		"mutex/live=4": 1,
	}
	for _, c := range []struct {
		unit string
		want []string
	}{
		{"ns/op", []string{"live 1: pool ark 5.00", "live 3: worker mutex 1.50", "live 1: pool mutex 1.25"}},
		{"ops/s", []string{"live 1: pool ark 0.20", "live 3: worker mutex 0.67", "live 1: pool mutex 0.80"}},
	} {
		chart := suite.Chart{Unit: c.unit, More: c.unit == "ops/s"}
		f := values
		if chart.More {
			f = map[string]float64{}
			for name, v := range values {
				f[name] = 1 / v
			}
		}
		cs := constructed(t, c.unit, f).contests([]suite.Question{question(chart)})
		rows, score := losses(cs)
		var got []string
		for _, r := range rows {
			at, _, _ := strings.Cut(r[1], ",")
			got = append(got, at+": "+strings.Fields(r[2])[0]+" "+strings.Fields(r[3])[0]+" "+r[4])
		}
		assert.Equal(t, c.want, got)
		assert.Equal(t, "In 3 of 6 comparisons with one that does the job the best of ours is behind, the plain pool in 3.", score)
		var references []string
		for _, c := range cs {
			references = append(references, strings.Fields(c.texts()[4] + " none")[0])
		}
		assert.Equal(t, []string{"cas", "loop", "none"}, references)
	}
}

// The tables for the terminal show every loss and every contest.
func TestTextHidesNothing(t *testing.T) {
	f, qs := fixture(t)
	cs := f.contests(qs)
	rows, score := losses(cs)
	for _, c := range cs {
		rows = append(rows, c.texts())
	}
	var b strings.Builder
	require.NoError(t, Text(&b, f, qs))
	for _, texts := range append(rows, []string{score}) {
		for _, text := range texts {
			assert.True(t, strings.Contains(b.String(), text), text)
		}
	}
}

func TestReadmeRewritesTheTableAlone(t *testing.T) {
	f, qs := fixture(t)
	path := filepath.Join(t.TempDir(), "README.md")
	readme := func(text string, brief bool) (string, error) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		err := Readme(path, f, qs, brief)
		got, reading := os.ReadFile(path)
		require.NoError(t, reading)
		return string(got), err
	}
	const before, after = "# Title\n\nabout `" + Begin + "` \n", "\nno newline at the end"
	for brief, want := range map[bool]string{
		false: "| What does it cost to look up one value that all goroutines want? (goroutines 1; goroutines 2) | ",
		true:  "| Memory for each of a million live values (value 16B; value 64B) | ",
	} {
		first, err := readme(before+Begin+"\nstale rows\n"+End+after, brief)
		require.NoError(t, err)
		table, ok := strings.CutPrefix(first, before+Begin+"\n")
		require.True(t, ok)
		table, ok = strings.CutSuffix(table, End+after)
		require.True(t, ok)
		assert.NotContains(t, table, "stale rows")
		assert.Contains(t, table, want)
		columns := map[int]bool{}
		for _, line := range strings.Split(table, "\n") {
			if strings.HasPrefix(line, "|") {
				columns[strings.Count(line, "|")] = true
			}
		}
		assert.Len(t, columns, 1, "rows of one length")
		again, err := readme(first, brief)
		require.NoError(t, err)
		assert.Equal(t, first, again)
	}
	for _, text := range []string{
		"nothing\n", Begin + "\n", End + "\n" + Begin + "\n", "text " + Begin + "\n" + End,
		Begin + "\n" + End + "\n" + Begin + "\n" + End,
	} {
		got, err := readme(text, false)
		require.ErrorContains(t, err, "must be there once")
		assert.Equal(t, text, got)
	}
}

// The chart is well-formed, and has a line and a name for each contestant with several points.
func TestChartHasALineForEachContestant(t *testing.T) {
	q := question(suite.Chart{Unit: "ns/op"})
	f := constructed(t, "ns/op", map[string]float64{"pool/n=1": 1, "pool/n=2": 2, "pool/n=4": 3, "mutex/n=1": 5, "mutex/n=4": 9, "cas/n=1": 1})
	var b strings.Builder
	require.NoError(t, SVG(&b, f, &q, unitTime, "n"))
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	assert.Contains(t, b.String(), `<text x="52.0" y="287.0" text-anchor="middle">1<`)
	assert.Contains(t, b.String(), `<text x="179.0" y="287.0" text-anchor="middle">2<`)
	assert.Contains(t, b.String(), `<text x="306.0" y="287.0" text-anchor="middle">4<`)
	assert.Contains(t, b.String(), ">pool<")
	assert.Contains(t, b.String(), ">mutex<")
	assert.NotContains(t, b.String(), ">cas<")
	require.Error(t, SVG(io.Discard, f, &q, "B/op", "n"))
}
