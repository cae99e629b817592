package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coatcheck/bench/suite"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The references are the fastest, and no verdict is about them.
func TestLossesAreExactlyThoseBeyondTheNoise(t *testing.T) {
	q := question(suite.Chart{Unit: "ns/op"})
	times := map[string]float64{
		"pool/live=1": 10, "worker/live=1": 50, "mutex/live=1": 8, "ark/live=1": 2, "cgo/live=1": 11, "cas/live=1": 1,
		"pool/live=2": 10, "worker/live=2": 6, "mutex/live=2": 9, "syncmap/live=2": 10,
		"worker/live=3": 60, "mutex/live=3": 40, "loop/live=3": 1,
		"mutex/live=4": 1,
	}
	want := []string{"live 1: pool ark 5.00", "live 3: worker mutex 1.50", "live 1: pool mutex 1.25"}
	for _, chart := range []suite.Chart{{Unit: "ns/op"}, {Unit: "ops/s", More: true}} {
		q.Charts = []suite.Chart{chart}
		f, _ := constructed(t, q, times)
		o := judge(f.contests([]suite.Question{q}))
		var got []string
		for _, r := range o.Losses.Rows {
			at, _, _ := strings.Cut(r.Texts[1], ",")
			got = append(got, at+": "+strings.Fields(r.Texts[2])[0]+" "+strings.Fields(r.Texts[3])[0]+" "+r.Texts[4])
		}
		assert.Equal(t, want, got, chart.Unit)
		var references []string
		for _, r := range o.Contests.Rows {
			references = append(references, strings.Fields(r.Texts[5] + " none")[0])
		}
		assert.Equal(t, []string{"cas", "loop", "none"}, references)
		assert.Contains(t, o.Score, "ahead in 1 contests, behind in 2, and within the noise in 0")
		assert.Contains(t, o.Lost, "In 3 of 6 comparisons", "references and contestants without another are not compared")
	}
}

func TestReadmeRewritesTheTableAlone(t *testing.T) {
	f, qs := fixture(t)
	path := filepath.Join(t.TempDir(), "README.md")
	readme := func(text string, l Length) (string, error) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		err := Readme(path, f, qs, l)
		got, reading := os.ReadFile(path)
		require.NoError(t, reading)
		return string(got), err
	}
	const before, after = "# Title\n\nabout `" + Begin + "` \n", "\nno newline at the end"
	for l, want := range map[Length]string{
		Full:  "| Churn | goroutines 1, live 1,000 | worker ",
		Short: "| What does it cost to look up one value that all goroutines want? (goroutines 1; goroutines 2) | pool-guard ",
		Brief: "| Memory for each of a million live values (value 16B; value 64B) | fifo ",
	} {
		first, err := readme(before+Begin+"\nstale rows\n"+End+after, l)
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
		again, err := readme(first, l)
		require.NoError(t, err)
		assert.Equal(t, first, again)
	}
	for _, text := range []string{
		"nothing\n", Begin + "\n", End + "\n" + Begin + "\n", "text " + Begin + "\n" + End,
		Begin + "\n" + End + "\n" + Begin + "\n" + End,
	} {
		got, err := readme(text, Full)
		require.ErrorContains(t, err, "must be there once")
		assert.Equal(t, text, got)
	}
}
