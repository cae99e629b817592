package poolhttp_test

import (
	"strconv"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/poolhttp"
)

// TestManyRegisterAtOnce: the runtime ends a program whose goroutines write to a map at once.
func TestManyRegisterAtOnce(t *testing.T) {
	p := pool.Must[int](nil)
	testkit.Together(4, func(k int) {
		name := "many " + strconv.Itoa(k)
		for range 5000 {
			poolhttp.Register(name, p)
			poolhttp.Unregister(name)
		}
	})
}
