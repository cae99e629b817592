package main

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/bench/suite"
)

func TestWrongFlagsAreRefused(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-quik"}, "-quik"},
		{[]string{"pool"}, `"pool" is not a flag`},
		{[]string{"-rounds", "0"}, "at least one"},
		{[]string{"-quick", "-rounds", "3"}, "-rounds"},
		{[]string{"-only", "("}, "-only"},
		{[]string{"-cpu", "1,x"}, `"x"`},
		{[]string{"-cpu", "0"}, `"0"`},
		{[]string{"-cpu", "2,2"}, "twice"},
		{[]string{"-cpu", "1,,2"}, `""`},
		{[]string{"-quick", "-readme"}, "-readme"},
		{[]string{"-from", "x", "-only", "y"}, "leave -only out"},
		{[]string{"-seed", "-1"}, "-seed"},
	} {
		_, err := parse(c.args, new(bytes.Buffer))
		require.ErrorContains(t, err, c.want, "%v", c.args)
	}
}

func TestCommandCanBePastedIntoAShell(t *testing.T) {
	require.Equal(t, `go -C bench run . -only 'impl=(pool|it'\''s)/' -quick`, command([]string{"-only", "impl=(pool|it's)/", "-quick"}))
}

func TestFailedChecksFailTheProgram(t *testing.T) {
	for _, right := range []bool{true, false} {
		dir := t.TempDir()
		asked, err := parse([]string{"-quick", "-only", "Q", "-out", dir}, new(bytes.Buffer))
		require.NoError(t, err)
		q := suite.Question{ID: "Q", Title: "Does it work?", About: "It should.",
			Charts: []suite.Chart{{Unit: "ns/op"}},
			Groups: func(suite.Env) []suite.Group {
				return []suite.Group{{Cases: []suite.Case{
					{Impl: "good", Open: func() (suite.Run, error) { return idle{}, nil }},
					{Impl: "other", Open: func() (suite.Run, error) {
						if right {
							return idle{}, nil
						}
						return wrong{}, nil
					}},
				}}}
			}}
		err = answer(t.Context(), asked, []suite.Question{q}, io.Discard, io.Discard)
		figures, read := os.ReadFile(dir + "/" + figuresFile)
		require.NoError(t, read)
		require.FileExists(t, dir+"/"+reportFile)
		require.Contains(t, string(figures), "impl=good/")
		if right {
			require.NoError(t, err)
			require.Contains(t, string(figures), "impl=other/")
		} else {
			require.ErrorContains(t, err, "Q/impl=other/goroutines=1")
			require.ErrorIs(t, err, os.ErrInvalid)
			require.NotContains(t, string(figures), "impl=other/")
		}
	}
}

// wrong is a run whose final check fails.
type wrong struct{ idle }

func (wrong) Close() error { return os.ErrInvalid }
