package measure

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"coatcheck/bench/suite"
)

// fake is the runs of a question, which note their turns.
type fake struct {
	suite.Group
	turns  string
	opened map[string]int
	open   int
	most   int // that were open at once
}

// measure measures cases a, b and c, and returns the operations of their rounds.
func (f *fake) measure(t *testing.T, ctx context.Context, o Options) (map[string][]int, error) {
	f.opened = map[string]int{}
	for i, name := range []string{"a", "b", "c"} {
		each := time.Duration(1+i*200) * time.Microsecond
		f.Cases = append(f.Cases, suite.Case{Impl: name, Open: func() suite.Run {
			f.opened[name]++
			f.open++
			f.most = max(f.most, f.open)
			return suite.Run{
				Do: func(n int) (int, error) {
					f.turns += name
					time.Sleep(time.Duration(n) * each)
					return n, nil
				},
				Close: func() error { f.open--; return nil },
			}
		}})
	}
	o.Config = []benchfmt.Config{{Key: "cpu", Value: []byte("x"), File: true}}
	var out bytes.Buffer
	err := Questions(ctx, &out, []suite.Question{{ID: "Q", Groups: func(suite.Env) []suite.Group { return []suite.Group{f.Group} }}}, o)
	require.Zero(t, f.open)
	ops := map[string][]int{}
	for r := benchfmt.NewReader(&out, "out"); r.Scan(); {
		if rec, ok := r.Result().(*benchfmt.Result); ok {
			require.Equal(t, "x", rec.GetConfig("cpu"))
			name := strings.Split(rec.Name.String(), "=")[1][:1]
			ops[name] = append(ops[name], rec.Iters)
		}
	}
	return ops, err
}

// A busy machine may oversleep, and then a turn has fewer operations.
func TestTurnsAreCalibratedAndOrderRotates(t *testing.T) {
	var f fake
	ops, err := f.measure(t, t.Context(), Options{Rounds: 3, Turn: 10 * time.Millisecond})
	require.NoError(t, err)
	require.Equal(t, 3, f.most)
	require.Equal(t, "abcbcacab", f.turns[len(f.turns)-9:])
	for name, most := range map[string]int{"a": 10_001, "b": 51, "c": 26} {
		require.Len(t, ops[name], 3)
		require.LessOrEqual(t, ops[name][2], most, name)
	}
	for tries := 0; ops["a"][2] <= ops["b"][2]; tries++ {
		require.Less(t, tries, 20, "the shortest operations are not done most often")
		ops, err = new(fake).measure(t, t.Context(), Options{Rounds: 3, Turn: 10 * time.Millisecond})
		require.NoError(t, err)
	}
}

func TestOnlyOneCaseIsOpenApart(t *testing.T) {
	f := fake{Group: suite.Group{Apart: true}}
	ops, err := f.measure(t, t.Context(), Options{Turn: 5 * time.Millisecond})
	require.NoError(t, err)
	require.Equal(t, 1, f.most)
	require.Equal(t, map[string]int{"a": 3, "b": 3, "c": 3}, f.opened)
	require.Regexp(t, "^a+b+c+b+c+a+c+a+b+$", f.turns)
	require.Len(t, ops["a"], 7)
	require.Len(t, ops["c"], 7)
	f = fake{Group: suite.Group{Once: true}}
	ops, err = f.measure(t, t.Context(), Options{})
	require.NoError(t, err)
	require.Equal(t, 1, f.most)
	require.Equal(t, map[string][]int{"a": {1}, "b": {1}, "c": {1}}, ops)
}

func TestStoppedAndNothing(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := new(fake).measure(t, ctx, Options{Quick: true})
	require.ErrorIs(t, err, errStopped)
	_, err = new(fake).measure(t, t.Context(), Options{Only: regexp.MustCompile("zzz")})
	require.ErrorIs(t, err, ErrNothing)
	ops, err := new(fake).measure(t, t.Context(), Options{Quick: true, Only: regexp.MustCompile("impl=b/")})
	require.NoError(t, err)
	require.Equal(t, map[string][]int{"b": {tiny}}, ops)
}
