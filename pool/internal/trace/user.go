package trace

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"time"
)

// User remembers which goroutine uses a thing that one goroutine at a time may use. The zero User has none.
type User struct {
	mu        sync.Mutex
	goroutine string // the one whose call is under way, or empty
	depth     int    // how many of its calls are under way, one within the other
	entered   Event
}

// Enter notes that the caller begins to use the thing. If another goroutine does, Enter notes
// nothing, and returns a text with the stacks of both.
func (u *User) Enter() (misuse string) {
	caller, e := goroutine(), Event{"used", time.Now(), callers()}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.depth > 0 && u.goroutine != caller {
		var b strings.Builder
		for _, e := range []Event{u.entered, e} {
			b.WriteString("\n")
			e.write(&b, "")
		}
		return b.String()
	}
	if u.depth++; u.depth == 1 {
		u.goroutine, u.entered = caller, e
	}
	return ""
}

// Leave notes that the caller's last Enter is over.
func (u *User) Leave() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.depth--
}

// goroutine returns the number of the calling goroutine, from the head line of its stack.
func goroutine() string {
	b := make([]byte, 64)
	fields := bytes.Fields(b[:runtime.Stack(b, false)])
	return string(fields[1])
}
