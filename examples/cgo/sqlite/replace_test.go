package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

const source = `// Package p is one.
package p

// #include <x.h>
import "C"

import (
	"errors"
	"sync"
)

// calls uses the table.
func calls() any { return look(1) } // at the end

// vals is a table,
// under a lock.
var vals sync.Map

// look looks.
func look(k any) any {
	// Inside.
	v, _ := vals.Load(k)
	return v
}

func (c conn) look() error { return errors.New("a method stays") }
`

// TestCut: declarations go with their comments and imports, and everything else stays as
// it is.
func TestCut(t *testing.T) {
	got, err := cut([]byte(source), "look", "vals")
	require.NoError(t, err)
	require.Equal(t, `// Package p is one.
package p

// #include <x.h>
import "C"

import (
	"errors"
	
)

// calls uses the table.
func calls() any { return look(1) } // at the end





func (c conn) look() error { return errors.New("a method stays") }
`, string(got))
}

// TestCutMissesNames: another version of the package may lack some. Then nothing is
// replaced.
func TestCutMissesNames(t *testing.T) {
	_, err := cut([]byte(source), "look", "deleted")
	require.ErrorContains(t, err, `"deleted"`)
	_, err = cut([]byte(source), "look", "look")
	require.ErrorContains(t, err, `"look"`)
}

// TestTableSaysWhatIsWorse: an unclear ratio is no better, and a worse one is marked.
func TestTableSaysWhatIsWorse(t *testing.T) {
	olds := map[string][]float64{"a": {10, 10, 10, 10}, "b": {10, 10, 10, 10}, "c": {10, 10, 10, 10}}
	news := map[string][]float64{"a": {5, 5, 6, 6}, "b": {9, 9, 11, 11}, "c": {11, 11, 12, 12}}
	var out bytes.Buffer
	table(&out, []string{"a", "b", "c"}, olds, news)
	require.Regexp(t, `a .* 0\.60 \(0\.50–0\.60\) .* better `, out.String())
	require.Regexp(t, `b .* no better `, out.String())
	require.Regexp(t, `c .* \*\*worse\*\* `, out.String())
}
