//go:build !race

package trace

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// lifeOf returns a handle of slot 7.
func lifeOf(generation uint64) uint64 { return generation<<32 | 7 }

func story(l *Lives, handle uint64) string {
	var b strings.Builder
	if !l.Write(&b, handle) && b.Len() > 0 {
		return "text of a life that is not known: " + b.String()
	}
	return b.String()
}

// TestLivesKeepTheLast: the last lives are kept, in whatever order their records come. A
// late record of an earlier life does not count for a later one.
func TestLivesKeepTheLast(t *testing.T) {
	var l Lives
	require.Empty(t, story(&l, lifeOf(1)))
	require.Empty(t, story(&l, 0))
	for _, g := range []uint64{3, 1, 9, 7, 5, 11} {
		l.Ended(lifeOf(g), fmt.Sprintf("ended %d", g))
		l.Began(lifeOf(g), fmt.Sprintf("began %d", g))
	}
	l.Ended(lifeOf(1), "late")
	l.Dropped(lifeOf(3), "late")
	for _, g := range []uint64{1, 3} {
		require.Empty(t, story(&l, lifeOf(g)))
	}
	for _, g := range []uint64{5, 7, 9, 11} {
		text := story(&l, lifeOf(g))
		began, ended := strings.Index(text, fmt.Sprintf("\nbegan %d at ", g)), strings.Index(text, fmt.Sprintf("\nended %d at ", g))
		require.Equal(t, 0, began, text)
		require.Greater(t, ended, began, text)
		require.Equal(t, 2, strings.Count(text, "TestLivesKeepTheLast\n"), text)
	}
	require.Empty(t, story(&l, lifeOf(9)+1), "another slot")
	l.Dropped(lifeOf(11), "dropped")
	require.Regexp(t, `(?s)began 11.*\ndropped at .* ago\) by the garbage collector$`, story(&l, lifeOf(11)))
}

func text(write func(*strings.Builder, string)) string {
	var b strings.Builder
	write(&b, "")
	return b.String()
}

// branch calls open at the end of one of 2^depth paths. Another package's call lies
// between its calls, so that they are not taken for one package's own.
func branch(way, depth int, open func()) {
	switch {
	case depth == 0:
		new(sync.Once).Do(open)
	case way&1 == 0:
		branch(way>>1, depth-1, open)
	default:
		branch(way>>1, depth-1, open)
	}
}

// TestStacksAreBounded: memory and texts are bounded, however many places there are.
func TestStacksAreBounded(t *testing.T) {
	var s Set
	for way := range 1 << 15 {
		branch(way, 15, func() { s.Close(s.Open("opened", ""), "closed") })
	}
	stacks.mu.Lock()
	n := len(stacks.known)
	stacks.mu.Unlock()
	require.LessOrEqual(t, n, mostStacks)
	for way := range 100 {
		branch(way, 15, func() { s.Open("opened", "") })
	}
	branch(0, 100, func() { s.Open("opened", "") })
	open := text(s.WriteOpen)
	require.Equal(t, mostStories, strings.Count(open, "opened at "))
	require.True(t, strings.HasSuffix(open, "\nand more from other places"), open)
	require.Equal(t, mostStories, strings.Count(open, "\n\t…"))
	require.Less(t, len(open), 20_000)
	for range 100 {
		s.Drop(s.Open("opened", ""), "dropped")
	}
	require.Len(t, s.dropped, mostDropped)
	require.True(t, strings.HasSuffix(text(s.WriteDropped), "\nand 15 more from there"), "each place is shown once")
}
