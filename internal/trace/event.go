package trace

import (
	"fmt"
	"strings"
	"time"
)

// Event is an operation that took place. The zero Event did not.
type Event struct {
	did   string // a participle: "inserted"
	when  time.Time
	stack *stack // nil: the garbage collector did it
}

// Happened reports whether the event took place.
func (e Event) Happened() bool { return !e.when.IsZero() }

// Write appends a line that says what was done and when, and the stack below it. Each
// line follows a newline and indent.
func (e Event) Write(b *strings.Builder, indent string) {
	b.WriteString("\n" + indent)
	e.write(b, indent)
}

// write is Write for a line that has been begun.
func (e Event) write(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s at %s (%v ago)", e.did, e.when.Format("15:04:05.000000"), time.Since(e.when).Round(time.Microsecond))
	if e.stack == nil {
		b.WriteString(" by the garbage collector")
		return
	}
	b.WriteString(" by")
	e.stack.write(b, indent+"\t")
}
