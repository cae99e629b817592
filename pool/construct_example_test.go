package pool_test

import (
	"errors"
	"fmt"
	"net/url"

	"coatcheck/pool"
)

func ExamplePool_TryInsertFunc() {
	p := pool.Must(replay[*url.URL]())
	for _, text := range []string{"https://go.dev", "::"} {
		h, err := p.TryInsertFunc(func(_ pool.Handle[*url.URL], to **url.URL) (err error) {
			*to, err = url.Parse(text)
			return err
		})
		fmt.Println(h, err)
	}
	fmt.Println(p.Len())
	// Output:
	// 0@1 <nil>
	// none parse "::": missing protocol scheme
	// 1
}

func ExampleWorker_TryInsertFunc() {
	p := pool.Must(replay[string]())
	w := p.Worker()
	defer w.Close()
	closing := errors.New("the cloakroom is closing")
	_, err := w.TryInsertFunc(func(pool.Handle[string], *string) error { return closing })
	fmt.Println(err == closing, p.Len())
	// Output: true 0
}
