package trace

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"time"
)

// User is the goroutine that uses something which one goroutine at a time may use. The zero User
// is none.
type User struct {
	mu        sync.Mutex
	goroutine string // of the call under way, or empty
	depth     int    // its calls within calls
	entered   Event
}

// Enter notes that the caller begins to use the thing. If another goroutine does, Enter notes
// nothing, and returns a text with the stacks of both.
func (u *User) Enter() (misuse string) {
	me, e := goroutine(), Event{"used", time.Now(), callers()}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.depth > 0 && u.goroutine != me {
		var b strings.Builder
		for _, e := range []Event{u.entered, e} {
			b.WriteString("\n")
			e.write(&b, "")
		}
		return b.String()
	}
	if u.depth++; u.depth == 1 {
		u.goroutine, u.entered = me, e
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
