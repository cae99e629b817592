package poolhttp_test

import (
	"strconv"
	"testing"

	"golang.org/x/sync/errgroup"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/poolhttp"
)

// TestManyRegisterAtOnce: the runtime ends a program whose goroutines write to a map at once.
func TestManyRegisterAtOnce(t *testing.T) {
	p := pool.Must[int](nil)
	var g errgroup.Group
	for k := range 4 {
		g.Go(func() error {
			name := "many " + strconv.Itoa(k)
			for range 5000 {
				poolhttp.Register(name, p)
				poolhttp.Unregister(name)
			}
			return nil
		})
	}
	testkit.Within(t, func() { _ = g.Wait() })
}
