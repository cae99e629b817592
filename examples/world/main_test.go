package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// runProgram runs the program with a command line.
func runProgram(args ...string) (code int, out, stderr string) {
	var o, e bytes.Buffer
	code = program(args, &o, &e)
	return code, o.String(), e.String()
}

// line returns the line of the program's output that begins with a word.
func line(t *testing.T, out, word string) string {
	t.Helper()
	for l := range strings.Lines(out) {
		if strings.HasPrefix(l, word) {
			return strings.TrimSpace(l)
		}
	}
	require.Failf(t, "no such line", "%q in\n%s", word, out)
	return ""
}

// TestProgramPrintsTheSameForAnyWorkers: the checksum is the same, with and without
// saving. Without a name the picture is meadow.png.
func TestProgramPrintsTheSameForAnyWorkers(t *testing.T) {
	t.Chdir(t.TempDir())
	_, one, _ := runProgram("-ticks", "40", "-workers", "1", "-resume=false", "-o", "")
	code, out, stderr := runProgram("-ticks", "40", "-workers", "8")
	require.Zero(t, code, stderr)
	require.Equal(t, line(t, one, "checksum"), line(t, out, "checksum"))
	require.Contains(t, line(t, out, "tick 20"), "handles, live and stale, mean the same")
	require.Equal(t, "picture     meadow.png", line(t, out, "picture"))
	f, err := os.Open("meadow.png")
	require.NoError(t, err)
	defer f.Close()
	img, err := png.Decode(f)
	require.NoError(t, err)
	require.Equal(t, width, img.Bounds().Dx())
	require.Equal(t, height, img.Bounds().Dy())
	green := 0
	for y := range height {
		for x := range width {
			if r, g, b, _ := img.At(x, y).RGBA(); g > r+r/4 && g > b+b/4 {
				green++
			}
		}
	}
	require.Greater(t, green, 3_000, "the picture shows leaves")
}

// TestProgramServesItsPool: the page shows the meadow's pool, before and after it is read
// back.
func TestProgramServesItsPool(t *testing.T) {
	in, out := io.Pipe()
	done := make(chan int)
	go func() {
		var stderr bytes.Buffer
		done <- program([]string{"-ticks", "4", "-http", "127.0.0.1:0", "-o", ""}, out, &stderr)
		out.CloseWithError(errors.New(stderr.String()))
	}()
	lines := bufio.NewReader(in)
	read := func() string {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		return line
	}
	url, found := strings.CutPrefix(strings.TrimSpace(read()), "pools       ")
	require.True(t, found)
	for _, next := range []string{"tick 2 ", "plants "} { // the program waits until a line is read
		answer, err := http.Get(url + "pools.json")
		require.NoError(t, err)
		var pools map[string]struct {
			Type string
			Live int
		}
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&pools))
		require.NoError(t, answer.Body.Close())
		require.Equal(t, "main.Part", pools["parts"].Type)
		require.Positive(t, pools["parts"].Live)
		require.True(t, strings.HasPrefix(read(), next))
	}
	go io.Copy(io.Discard, lines)
	require.Zero(t, <-done)
}

func TestProgramRefusesBadCommandLines(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"-ticks -1", "-1 ticks"},
		{"-workers 0", "0 workers"},
		{"-seed x", "-seed"},
		{"-http", "-http"},
		{"meadow", `unexpected argument "meadow"`},
	} {
		code, out, stderr := runProgram(strings.Fields(c.args)...)
		require.Equal(t, 2, code, c.args)
		require.Empty(t, out)
		require.Contains(t, stderr, c.says)
		require.Contains(t, stderr, "Usage of world")
	}
	code, out, stderr := runProgram("-h")
	require.Zero(t, code)
	require.Empty(t, out)
	require.Contains(t, stderr, "Usage of world")
	code, _, stderr = runProgram("-ticks", "1", "-o", filepath.Join(t.TempDir(), "no", "such.png"))
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "no such file")
	code, _, stderr = runProgram("-http", "nowhere", "-o", "")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "nowhere")
}
