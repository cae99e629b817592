package linearize

import (
	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// Subject is a Pool, or a wrong one as a control.
type Subject = verbs.Subject[Value]

// Maker makes the subject of one history.
type Maker func(o *pool.Options[Value]) Subject

// Pool makes a pool.
func Pool(o *pool.Options[Value]) Subject { return pool.Must(o) }
