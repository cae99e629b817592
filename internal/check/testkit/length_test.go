package testkit

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLengths(t *testing.T) {
	was := flag.Lookup("test.short").Value.String()
	defer flag.Set("test.short", was)
	for _, c := range []struct {
		full, short string
		of          int
	}{{"", "false", 250}, {"", "true", 100}, {"1", "false", 1000}, {"1", "true", 100}} {
		t.Setenv("COATCHECK_FULL", c.full)
		require.NoError(t, flag.Set("test.short", c.short))
		require.Equal(t, c.of, Long(1000))
		require.Equal(t, 1, Long(1))
		require.Equal(t, c.of == 1000, Full())
	}
}
