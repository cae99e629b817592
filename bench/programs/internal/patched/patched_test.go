package patched

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTableMarksWhatIsWorse: an unclear ratio is no better, nor is one that is printed as
// 1.00.
func TestTableMarksWhatIsWorse(t *testing.T) {
	names := []string{"better", "unclear", "same", "worse"}
	olds, news := map[string][]float64{}, map[string][]float64{"better": {500, 500, 600, 600},
		"unclear": {900, 900, 1100, 1100}, "same": {999, 999, 999, 999}, "worse": {1100, 1100, 1200, 1200}}
	for _, name := range names {
		olds[name] = []float64{1000, 1000, 1000, 1000}
	}
	var out bytes.Buffer
	table(&out, names, olds, news)
	require.Regexp(t, `better .* 0\.60 \(0\.50–0\.60\) +\| better `, out.String())
	require.Regexp(t, `unclear .* no better `, out.String())
	require.Regexp(t, `same .* 1\.00 \(1\.00–1\.00\) +\| no better `, out.String())
	require.Regexp(t, `worse .* \*\*worse\*\* `, out.String())
	out.Reset()
	table(&out, names[3:], olds, map[string][]float64{"worse": {1100, 1100, 1200}})
	require.NotContains(t, out.String(), "**", "three rounds are too few")
}

// Declarations go with their comments, and everything else stays. Of another version, which
// may lack some, nothing is replaced.
func TestCut(t *testing.T) {
	const before, table, after = "package p\n\nimport (\n\t\"errors\"\n", "\t\"sync\"\n", ")\n\n// calls uses it.\nfunc calls() any { return look(1) }\n\n"
	source := before + table + after + "// vals is a table,\n// under a lock.\nvar vals sync.Map\n// look looks.\nfunc look(k any) any {\n\t// Inside.\n\treturn vals\n}\nfunc (c conn) look() {}\n"
	got, err := cut([]byte(source), "vals", "look")
	require.NoError(t, err)
	require.Equal(t, before+after+"func (c conn) look() {}\n", string(got))
	got, err = cut([]byte("package p\n\n"+"func look() {}\nfunc (c conn) look() {\n}\n"), "(c conn) look")
	require.NoError(t, err)
	require.Equal(t, "package p\n\nfunc look() {}\n", string(got))
	_, err = cut([]byte(source), "look", "deleted")
	require.ErrorContains(t, err, `0 declarations of "deleted"`)
}
