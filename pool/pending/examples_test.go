package pending_test

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"coatcheck/pool"
	"coatcheck/pool/pending"
)

type message struct {
	ID   uint64
	Text string
}

// client is an RPC client: any number of goroutines call, and one reads the answers.
type client struct {
	calls *pending.Calls[string]
	mu    sync.Mutex
	out   *gob.Encoder
}

func newClient(conn net.Conn) *client {
	c := &client{calls: pending.New[string](nil), out: gob.NewEncoder(conn)}
	go func() {
		for in := gob.NewDecoder(conn); ; {
			var m message
			if err := in.Decode(&m); err != nil {
				c.calls.Close(err) // whoever waits learns of it
				return
			}
			c.calls.Deliver(m.ID, m.Text) // false: it comes too late
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
		call.Cancel() // nobody will answer
		return "", err
	}
	return call.WaitTimeout(time.Minute)
}

// A client whose server answers out of order.
func Example() {
	here, there := net.Pipe()
	go func() { // the server answers three requests in reverse, and goes
		var ms [3]message
		in, out := gob.NewDecoder(there), gob.NewEncoder(there)
		for i := range ms {
			_ = in.Decode(&ms[i])
		}
		for i := len(ms) - 1; i >= 0; i-- {
			_ = out.Encode(message{ms[i].ID, "re: " + ms[i].Text})
		}
		_ = there.Close()
	}()

	c := newClient(here)
	var wg sync.WaitGroup
	answers := make([]string, 3)
	for i, text := range []string{"coat", "hat", "umbrella"} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			answers[i], _ = c.call(text)
		}()
	}
	wg.Wait()
	fmt.Println(answers)
	_, err := c.call("gloves")
	fmt.Println(errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe))
	// Output:
	// [re: coat re: hat re: umbrella]
	// true
}

// The call ends when the context is done, and its answer is refused.
func ExampleCall_Wait() {
	calls := pending.New[string](nil)
	call, _ := calls.Start()
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()

	_, err := call.Wait(ctx)
	fmt.Println(err)
	fmt.Println(calls.Deliver(call.ID(), "too late"))
	// Output:
	// context deadline exceeded
	// false
}

func ExampleCall_WaitTimeout() {
	calls := pending.New[string](nil)
	call, _ := calls.Start()
	go calls.Deliver(call.ID(), "in time")
	fmt.Println(call.WaitTimeout(time.Minute))
	// Output: in time <nil>
}

// The request could not be sent, so no answer will come.
func ExampleCall_Cancel() {
	calls := pending.New[string](nil)
	call, _ := calls.Start()
	fmt.Println(call.Cancel(), calls.Len())
	_, err := call.Wait(context.Background())
	fmt.Println(err == pending.ErrEnded)
	// Output:
	// true 0
	// true
}

// Of two answers, the second is refused. So is a number that was never an id.
func ExampleCalls_Deliver() {
	calls := pending.New[int](nil)
	call, _ := calls.Start()
	id := call.ID() // as it comes back from the peer
	fmt.Println(calls.Deliver(id^1<<40, 7), calls.Deliver(id, 1), calls.Deliver(id, 2))
	fmt.Println(call.Wait(context.Background()))
	// Output:
	// false true false
	// 1 <nil>
}

func ExampleCalls_Fail() {
	calls := pending.New[int](nil)
	call, _ := calls.Start()
	calls.Fail(call.ID(), errors.New("no such coat"))
	_, err := call.Wait(context.Background())
	fmt.Println(err)
	// Output: no such coat
}

// A connection is lost, and will be opened again.
func ExampleCalls_FailAll() {
	calls := pending.New[int](nil)
	first, _ := calls.Start()
	_, _ = calls.Start()
	fmt.Println(calls.FailAll(io.ErrUnexpectedEOF))
	_, err := first.Wait(context.Background())
	fmt.Println(err)
	// Output:
	// 2
	// unexpected EOF
}

func ExampleCalls_Close() {
	calls := pending.New[int](nil)
	call, _ := calls.Start()
	calls.Close(net.ErrClosed)
	_, err := call.Wait(context.Background())
	fmt.Println(err)
	_, err = calls.Start()
	fmt.Println(err)
	// Output:
	// use of closed network connection
	// use of closed network connection
}

// At the Capacity a program refuses work, or waits.
func ExampleCalls_Start() {
	calls := pending.New[int](&pending.Options{Capacity: 1})
	first, _ := calls.Start()
	_, err := calls.Start()
	fmt.Println(errors.Is(err, pool.ErrFull))
	calls.Deliver(first.ID(), 7)
	_, err = calls.Start()
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}
