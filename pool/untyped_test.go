//go:build !race

package pool_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// Most of a pool works on words, so a program has that code once. A further type of values,
// with all verbs, costs some 11 KiB.
func TestFurtherTypesCostLittleCode(t *testing.T) {
	if testkit.Short() {
		t.Skip("links two programs")
	}
	const most = 15 << 10
	one, three := codeSize(t, "none"), codeSize(t, "further")
	assert.Less(t, (three-one)/2, uint64(most))
}

// codeSize returns the size of the instructions of testdata/size with a build tag.
func codeSize(t *testing.T, tag string) uint64 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "size")
	build := exec.Command("go", "build", "-tags", tag, "-o", file, "./testdata/size")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	program, err := elf.Open(file)
	require.NoError(t, err)
	defer program.Close()
	return program.Section(".text").Size
}

// Values of one type are not reached as those of another by a conversion, which would compile
// without package unsafe.
func TestTypesDoNotConvertIntoEachOther(t *testing.T) {
	for of, to := range map[reflect.Type]reflect.Type{
		reflect.TypeFor[pool.Pool[int64]]():        reflect.TypeFor[pool.Pool[*int]](),
		reflect.TypeFor[pool.Guard[int64]]():       reflect.TypeFor[pool.Guard[*int]](),
		reflect.TypeFor[pool.Worker[int64]]():      reflect.TypeFor[pool.Worker[*int]](),
		reflect.TypeFor[pool.Reservation[int64]](): reflect.TypeFor[pool.Reservation[*int]](),
		reflect.TypeFor[pool.Ref[int64]]():         reflect.TypeFor[pool.Ref[*int]](),
	} {
		assert.False(t, of.ConvertibleTo(to), "%v to %v", of, to)
	}
}
