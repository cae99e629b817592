package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coatcheck/bench/suite"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func write(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "README.md")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func contents(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

func TestReadmeKeepsEveryOtherByte(t *testing.T) {
	f, qs := fixture(t)
	const before, after = "# Title\n\nabout `" + Begin + "` \n", "\nno newline at the end"
	path := write(t, before+Begin+"\nstale rows\n"+End+after)
	require.NoError(t, Readme(path, f, qs, Full))
	first := contents(t, path)
	table, ok := strings.CutPrefix(first, before+Begin+"\n")
	require.True(t, ok)
	table, ok = strings.CutSuffix(table, End+after)
	require.True(t, ok)
	assert.NotContains(t, table, "stale rows")
	assert.Contains(t, table, "| Churn | goroutines 1, live 1,000 |")
	require.NoError(t, Readme(path, f, qs, Full))
	assert.Equal(t, first, contents(t, path))
}

func TestReadmeWithoutMarkersIsUnchanged(t *testing.T) {
	f, qs := fixture(t)
	for _, c := range []struct{ text, want string }{
		{"nothing\n", "0 lines " + Begin},
		{Begin + "\n", "0 " + End},
		{Begin + "\n" + Begin + "\n" + End + "\n", "2 lines " + Begin},
		{Begin + "\n" + End + "\n" + End, "2 " + End},
		{End + "\n" + Begin + "\n", End + " before " + Begin},
		{"text " + Begin + "\n" + End, "0 lines " + Begin},
	} {
		path := write(t, c.text)
		require.ErrorContains(t, Readme(path, f, qs, Full), c.want)
		assert.Equal(t, c.text, contents(t, path))
	}
	assert.Error(t, Readme(filepath.Join(t.TempDir(), "none.md"), f, qs, Full))
}

func TestReadmeTables(t *testing.T) {
	f, qs := fixture(t)
	for _, l := range []Length{Brief, Short, Full} {
		var columns int
		for _, line := range strings.Split(f.markdown(qs, l), "\n") {
			if strings.HasPrefix(line, "|") {
				n := strings.Count(line, "|")
				assert.True(t, columns == 0 || n == columns, "%q", line)
				columns = n
			}
		}
		assert.Positive(t, columns)
	}
}

// A short table has at most 16 rows, and every row with a loss.
func TestShortTableKeepsLosses(t *testing.T) {
	var lines []string
	var qs []suite.Question
	for i := range 25 {
		q := question(suite.Chart{Unit: "ns/op"})
		q.ID, q.Title = fmt.Sprintf("Q%d", i), fmt.Sprintf("Question %d?", i)
		qs = append(qs, q)
		mutex := 20.0
		if i > 20 {
			mutex = 5
		}
		lines = append(append(lines, rounds(q.ID+"/impl=pool", 10)...), rounds(q.ID+"/impl=mutex", mutex)...)
	}
	rows := shortTable(read(t, lines...).contests(qs))
	require.Len(t, rows, shortRows)
	for i := 21; i < 25; i++ {
		assert.Equal(t, fmt.Sprintf("Question %d?", i), rows[i-21+shortRows-4][0])
	}
	assert.Equal(t, "Question 0?", rows[0][0])
}
