//go:build !race

package costs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScansArePaidFor: where the pool scans all guards, an epoch.Frontier has been paid for that. These
// files scan whatever it costs: refusals, what zeroes the values of idle pools, and reports.
func TestScansArePaidFor(t *testing.T) {
	free := []string{"shard/refuse.go", "shard/collector.go", "pool/stats.go", "pool/explain.go"}
	scan := regexp.MustCompile(`\.(Scan|Expired)\(`)
	var found []string
	for _, folder := range []string{"shard", "pool"} {
		files, err := filepath.Glob(filepath.Join("../../..", folder, "*.go"))
		require.NoError(t, err)
		require.Greater(t, len(files), 10)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "_interleave.go") {
				continue
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for line := range strings.Lines(string(text)) {
				name := folder + "/" + filepath.Base(file)
				if code, _, _ := strings.Cut(line, "//"); scan.MatchString(code) && !strings.Contains(code, "func ") && !slices.Contains(found, name) {
					found = append(found, name)
				}
			}
		}
	}
	require.Subset(t, free, found, "use an epoch.Frontier")
	require.Subset(t, found, free, "these need not be named any more")
}
