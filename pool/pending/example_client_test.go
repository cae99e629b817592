package pending_test

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"sync"
	"time"

	"coatcheck/pool/pending"
)

// A client whose server answers out of order, and then closes the connection.
func Example() {
	here, there := net.Pipe()
	go func() {
		if err := serve(there); err != nil {
			log.Fatal(err)
		}
	}()

	c := newClient(here)
	var wg sync.WaitGroup
	for _, text := range []string{"coat", "hat", "umbrella"} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			answer, err := c.call(text)
			if err != nil || answer != "the "+text {
				log.Fatal(answer, err)
			}
		}()
	}
	wg.Wait()
	fmt.Println("three answers")
	_, err := c.call("gloves")
	fmt.Println(errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe))
	// Output:
	// three answers
	// true
}

type message struct {
	ID   uint64
	Text string
}

// client makes calls for any number of goroutines. A goroutine of its own reads the answers.
type client struct {
	calls *pending.Calls[string]
	mu    sync.Mutex
	out   *gob.Encoder
}

func newClient(conn net.Conn) *client {
	c := &client{calls: pending.Must[string](nil), out: gob.NewEncoder(conn)}
	go func() {
		for in := gob.NewDecoder(conn); ; {
			var m message
			if err := in.Decode(&m); err != nil {
				c.calls.Close(err) // each caller that waits gets this error
				return
			}
			c.calls.Deliver(m.ID, m.Text) // false: the answer came too late
		}
	}()
	return c
}

func (c *client) call(text string) (string, error) {
	call, err := c.calls.Start()
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	err = c.out.Encode(message{call.ID(), text})
	c.mu.Unlock()
	if err != nil {
		call.Cancel() // no answer will come
		return "", err
	}
	return call.WaitTimeout(time.Minute)
}

// serve answers three requests, the last first.
func serve(conn net.Conn) error {
	defer conn.Close()
	var requests [3]message
	in, out := gob.NewDecoder(conn), gob.NewEncoder(conn)
	for i := range requests {
		if err := in.Decode(&requests[i]); err != nil {
			return err
		}
	}
	for i := range requests {
		m := requests[len(requests)-1-i]
		if err := out.Encode(message{m.ID, "the " + m.Text}); err != nil {
			return err
		}
	}
	return nil
}
