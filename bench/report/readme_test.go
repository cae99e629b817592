package report

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coatcheck/bench/suite"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func write(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "README.md")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o640))
	return path
}

func contents(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

func TestReadmeChangesOnlyTheTable(t *testing.T) {
	f, qs := fixture(t)
	before := "# Title\r\n\ttab, \xff and no UTF-8\n`" + Begin + "` in a text is no marker\n  " + Begin + " \n"
	after := End + "\n\ntrailing " + Begin + ", without an end of line"
	path := write(t, before+"old\n"+after)
	require.NoError(t, Readme(path, f, qs, Short))
	got := contents(t, path)
	require.True(t, strings.HasPrefix(got, before))
	require.True(t, strings.HasSuffix(got, after))
	table := got[len(before) : len(got)-len(after)]
	assert.NotContains(t, table, "old")
	for _, want := range []string{"`bench -full`", "Example CPU @ 2.50GHz", "2026-01-02", "commit 0123abc", "| What does a look-up cost? (live 10,000; live 1,000,000) | guard 1.46 ns; guard 6.93 ns | rwmutex 10.3 ns; mutex 30.9 ns | 0.14; 0.22 |"} {
		assert.Contains(t, table, want)
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())

	require.NoError(t, Readme(path, f, qs, Short))
	assert.Equal(t, got, contents(t, path), "twice is once")
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, left, 1)
}

func TestReadmeRefusesWrongMarkers(t *testing.T) {
	f, qs := fixture(t)
	for _, c := range []struct{ text, want string }{
		{"nothing\n", "0 lines " + Begin},
		{Begin + "\n", "0 lines " + End},
		{End + "\n", "0 lines " + Begin},
		{Begin + "\n" + Begin + "\n" + End + "\n", "2 lines " + Begin},
		{Begin + "\n" + End + "\n" + End, "2 lines " + End},
		{End + "\n" + Begin + "\n", End + " before " + Begin},
		{"text " + Begin + "\n" + End, "0 lines " + Begin},
	} {
		path := write(t, c.text)
		require.ErrorContains(t, Readme(path, f, qs, Full), c.want)
		assert.Equal(t, c.text, contents(t, path))
	}
	assert.Error(t, Readme(filepath.Join(t.TempDir(), "none.md"), f, qs, Full))
}

func TestReadmeOfALinkKeepsTheLink(t *testing.T) {
	f, qs := fixture(t)
	path := write(t, Begin+"\n"+End+"\n")
	link := filepath.Join(t.TempDir(), "link.md")
	require.NoError(t, os.Symlink(path, link))
	require.NoError(t, Readme(link, f, qs, Full))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink)
	assert.Contains(t, contents(t, path), "| Pair | goroutines 1 |")
}

func TestReadmeTables(t *testing.T) {
	f, qs := fixture(t)
	for _, l := range []Length{Short, Full} {
		var columns int
		for _, line := range strings.Split(f.markdown(f.questions(qs), l), "\n") {
			if strings.HasPrefix(line, "|") {
				n := strings.Count(line, "|")
				assert.True(t, columns == 0 || n == columns, "%q", line)
				columns = n
			}
		}
		assert.Positive(t, columns)
	}
}

// A short table has at most 16 rows, and what it leaves out is not where we lose.
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
	rows := read(t, lines...).readmeRows(qs, Short)
	require.Len(t, rows, shortRows)
	for i := 21; i < 25; i++ {
		assert.Equal(t, fmt.Sprintf("Question %d?", i), rows[i-21+shortRows-4].what)
	}
	assert.Equal(t, "Question 0?", rows[0].what)
}

func TestBriefReadmeHasItsQuestionsAlone(t *testing.T) {
	f, qs := fixture(t)
	table := f.markdown(f.questions(qs), Brief)
	for i := range qs {
		if r, ok := f.shortRow(&qs[i]); ok {
			assert.Equal(t, slices.Contains(briefly, qs[i].ID), strings.Contains(table, r.what), qs[i].ID)
		}
	}
	assert.Contains(t, table, "| What does an insertion with its removal cost? ")
}
