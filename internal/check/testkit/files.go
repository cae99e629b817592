package testkit

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Files returns the files below root whose names end so, relative to root. It leaves out testdata, and folders
// whose names begin with a dot. It asks the folders and not git, which a copy of the tree may lack.
func Files(t testing.TB, root, ending string) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (strings.HasPrefix(name, ".") && path != root || name == "testdata") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(name, ending) {
			file, err := filepath.Rel(root, path)
			all = append(all, file)
			return err
		}
		return nil
	}))
	return all
}
