package report

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"coatcheck/bench/suite"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func textOf(t *testing.T, f *Figures, qs []suite.Question, s Style) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, Text(&b, f, qs, s))
	return b.String()
}

func TestTextHasABlockForEachQuestion(t *testing.T) {
	f, qs := fixture(t)
	s := textOf(t, f, qs, Style{})
	for _, q := range f.questions(qs) {
		for _, v := range f.views(&q) {
			assert.Contains(t, s, q.ID+": "+v.chart.Title)
		}
	}
	assert.NotContains(t, s, "Absent")
	assert.NotContains(t, s, "\x1b")
	assert.Contains(t, s, "Misuse: what does each catch?")
	assert.Contains(t, s, "syncpool †")
	assert.Contains(t, s, "Example CPU @ 2.50GHz, 2 cores, linux/amd64")
	assert.Contains(t, textOf(t, f, qs, Style{Colour: true}), "\x1b[1m")
}

func TestTextIsAsWideAsAsked(t *testing.T) {
	f, qs := fixture(t)
	for _, width := range []int{80, 100, 160} {
		blocks, _, _ := strings.Cut(textOf(t, f, qs, Style{Width: width}), "\nMisuse:")
		for _, line := range strings.Split(blocks, "\n") {
			if strings.HasPrefix(line, "  ") { // or else it is a heading
				assert.LessOrEqual(t, utf8.RuneCountInString(line), width, "%q", line)
			}
		}
	}
}

func TestTextRowsAreOursFirstThenBySpeed(t *testing.T) {
	f, qs := fixture(t)
	v := f.view(&qs[1], qs[1].Charts[0])
	assert.Equal(t, []string{"guard", "pool", "mutex", "rwmutex", "xsync", "syncmap", "slice"}, v.impls())
}

func TestTextOfASingleRound(t *testing.T) {
	q := question(suite.Chart{Unit: "ns/op"})
	f := read(t, "BenchmarkQ/impl=pool 1 5 ns/op", "BenchmarkQ/impl=mutex 1 6 ns/op")
	s := textOf(t, f, []suite.Question{q}, Style{})
	assert.Contains(t, s, onceText)
	assert.Contains(t, s, "within the noise")
	assert.NotContains(t, s, "±")
}

func TestColourOnlyOnATerminal(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer f.Close()
	t.Setenv("NO_COLOR", "")
	assert.False(t, StyleOf(f).Colour)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer null.Close()
	t.Setenv("NO_COLOR", "1")
	assert.False(t, StyleOf(null).Colour)
	t.Setenv("COLUMNS", "90")
	assert.Equal(t, 90, StyleOf(null).Width)
}
