//go:build interleave

package explore_test

import (
	"fmt"
	"strings"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
	. "coatcheck/pool"
)

// releasedOnce: of two goroutines that release one Ref, one ends the hold, and the other panics. If both
// ended it, so would the hold of somebody else. A traced Ref has another state.
func releasedOnce(traced int) interleave.Setup {
	return func(r *interleave.Run) {
		p := Must(&Options[val]{Capacity: 2, Shards: 1, Origin: 1, TraceGuards: traced})
		h, err := p.Insert(val{})
		if err != nil {
			panic(err)
		}
		ref, _ := p.Hold(h)
		ended := 0
		for _, name := range []string{"A", "B"} {
			r.Go(name, 0, func(t *interleave.Thread) {
				t.Begin("Release")
				switch v := testkit.Recovered(ref.Release); {
				case v == nil:
					ended++
				case !strings.HasPrefix(fmt.Sprint(v), "pool: use of a Ref after Release"):
					r.Failf("the second Release panics: %v", v)
				}
				t.End()
			})
		}
		r.Finally(func() error {
			if st := p.Stats(); ended != 1 || st.Held != 0 {
				return fmt.Errorf("%d calls have ended the hold; %d are open", ended, st.Held)
			}
			return nil
		})
	}
}
