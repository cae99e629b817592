package pending_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"coatcheck/pool"
	"coatcheck/pool/pending"
)

// The call ends when the context is done, and its answer is refused.
func ExampleCall_Wait() {
	calls := pending.Must[string](nil)
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
	calls := pending.Must[string](nil)
	call, _ := calls.Start()
	go calls.Deliver(call.ID(), "in time")
	fmt.Println(call.WaitTimeout(time.Minute))
	// Output: in time <nil>
}

// The request could not be sent, so no answer will come.
func ExampleCall_Cancel() {
	calls := pending.Must[string](nil)
	call, _ := calls.Start()
	fmt.Println(call.Cancel(), calls.Len())
	_, err := call.Wait(context.Background())
	fmt.Println(err == pending.ErrEnded)
	// Output:
	// true 0
	// true
}

// The second of two answers is refused, and so is a number that was never an id.
func ExampleCalls_Deliver() {
	calls := pending.Must[int](nil)
	call, _ := calls.Start()
	id := call.ID() // as it comes back from the peer
	fmt.Println(calls.Deliver(id^1<<40, 7), calls.Deliver(id, 1), calls.Deliver(id, 2))
	fmt.Println(call.Wait(context.Background()))
	// Output:
	// false true false
	// 1 <nil>
}

func ExampleCalls_Fail() {
	calls := pending.Must[int](nil)
	call, _ := calls.Start()
	calls.Fail(call.ID(), errors.New("no such coat"))
	_, err := call.Wait(context.Background())
	fmt.Println(err)
	// Output: no such coat
}

// A connection is lost, and will be opened again.
func ExampleCalls_FailAll() {
	calls := pending.Must[int](nil)
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
	calls := pending.Must[int](nil)
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
	calls := pending.Must[int](&pending.Options{Capacity: 1})
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

func ExampleCalls_OldestAge() {
	calls := pending.Must[string](&pending.Options{Ages: true})
	_, none := calls.OldestAge()
	_, _ = calls.Start()
	time.Sleep(2 * time.Millisecond)
	_, _ = calls.Start()
	age, ok := calls.OldestAge()
	fmt.Println(none, ok, age > time.Millisecond)
	// Output: false true true
}

func ExampleCalls_All() {
	calls := pending.Must[string](&pending.Options{Ages: true})
	call, _ := calls.Start()
	time.Sleep(2 * time.Millisecond)
	for k, age := range calls.All() {
		if age > time.Millisecond {
			fmt.Println(k == call, k.Cancel())
		}
	}
	fmt.Println(calls.Stats().Live)
	// Output:
	// true true
	// 0
}
