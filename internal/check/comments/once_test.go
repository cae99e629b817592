package comments_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// uses counts the matches of a pattern in each function of the product.
func uses(t *testing.T, pkgs []string, pattern string) map[string]int {
	re := regexp.MustCompile(pattern)
	found := map[string]int{}
	c := parseModule(t).only(pkgs)
	for _, f := range c.files {
		name := c.fset.Position(f.Pos()).Filename
		if strings.HasSuffix(name, "_interleave.go") {
			continue // what looks at words for the invariants
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				body := text[c.fset.Position(d.Pos()).Offset:c.fset.Position(d.End()).Offset]
				if n := len(re.FindAll(body, -1)); n > 0 {
					found[filepath.Base(filepath.Dir(name))+"."+d.Name.Name] += n
				}
			}
		}
	}
	return found
}

// product lists the packages that users import, and their dependencies.
var product = append([]string{"pool/dense", "pool/table", "pool/tree", "pool/command"}, protocol...)

// A step of the protocol exists once, in package shard. Other packages only load a slot's
// word, in look-ups and loops.
func TestStepsOfTheProtocolExistOnce(t *testing.T) {
	for step, c := range map[string]struct {
		pattern string
		want    map[string]int
	}{
		"a life begins":         {`publishes \(P1\)|StoreRelease\(&s\.Word, h\)`, map[string]int{"shard.Publish": 1}},
		"a life ends":           {`Word\.CompareAndSwap`, map[string]int{"shard.vacate": 1}},
		"a word is its owner's": {`StoreRelease\(&s\.Word, word\)`, map[string]int{"shard.set": 1}},
		"memory is made": {`Word\.(Store|Swap|Add|Or|And)\(`, map[string]int{
			"shard.newPage": 1, "shard.newVoid": 1, "shard.bringBack": 1,
		}},
		"a slot leaves a freelist": {`free\.CompareAndSwap\(top, (rest|emptyList)`, map[string]int{
			"shard.Pop": 1, "shard.popRun": 1, "shard.takeList": 1, // one, some, all
		}},
		"slots come to a stack":   {`free\.CompareAndSwap\((top, c\.first|emptyList)`, map[string]int{"shard.push": 1, "shard.splice": 1}},
		"a batch is claimed":      {`CompareAndSwap\([^)]*claimed\)`, map[string]int{"shard.emptyBatch": 1, "shard.oldest": 1, "shard.passedSlots": 1}},
		"a batch is left":         {`publishes \(P9\)`, map[string]int{"shard.leave": 1}},
		"limbo is sealed":         {`limbo\.Swap`, map[string]int{"shard.seal": 1}},
		"a slot comes to limbo":   {`limbo\.CompareAndSwap`, map[string]int{"shard.Remove": 1, "shard.retire": 1, "shard.pushLimbo": 1}},
		"a stamp is taken":        {`Domain\.(Retire|Stamp)\(`, map[string]int{"shard.seal": 1, "shard.stamp": 1, "shard.Remove": 1}},
		"a slot is parked":        {`n\|parked`, map[string]int{"shard.park": 1}},
		"handles are taken apart": {`<<\s*32|>>\s*32`, map[string]int{"shard.Pack": 1, "shard.Generation": 1, "shard.IsLive": 1, "shard.pushed": 1, "shard.freshRun": 1, "shard.Allot": 1, "shard.At": 1, "shard.led": 2 /* of a hint */, "pool.Get": 2, "pool.Contains": 1}},
		"a generation is counted": {`generationStep`, map[string]int{"shard.Vacated": 1, "shard.Reborn": 1, "shard.Pop": 1, "shard.emptyBag": 2}},
		"an order of shards":      {`a\.shards\[`, nil},
	} {
		got := uses(t, product, c.pattern)
		if c.want == nil {
			for name := range got {
				require.Truef(t, strings.HasPrefix(name, "shard."), "%s: %s", step, name)
			}
			continue
		}
		require.Equal(t, c.want, got, step)
	}
}
