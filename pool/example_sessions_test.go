package pool_test

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"log"
	"strings"
	"time"

	"coatcheck/pool"
)

// A store of sessions, whose name goes to a browser as a cookie. A handle is a name and no secret:
// from one handle others can be guessed. So the cookie also has a random word, and the session has it
// too. A session is small and does not change here, so the pool keeps values, and Get copies one
// without an allocation.
//
// A session that has ended is refused, also when its slot has the session of another user by now.
func Example_sessions() {
	s := sessions{pool.Must[session](nil)}
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	cookie, err := s.Begin("alice", noon.Add(time.Hour))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.User(cookie, noon))
	name, _, _ := strings.Cut(cookie, ".")
	fmt.Println(s.User(name+".guess", noon))
	fmt.Println("ended:", s.Expire(noon.Add(2*time.Hour)))
	fmt.Println(s.User(cookie, noon))
	// Output:
	// alice true
	//  false
	// ended: 1
	//  false
}

type sessions struct{ live *pool.Pool[session] }

// session is a value that does not change. Its end is fixed when it begins.
type session struct {
	user   string
	secret string
	end    time.Time
}

// Begin begins a session and returns its cookie.
func (s sessions) Begin(user string, end time.Time) (cookie string, err error) {
	secret := rand.Text()
	h, err := s.live.Insert(session{user, secret, end})
	if err != nil {
		return "", err
	}
	return h.String() + "." + secret, nil
}

// User returns the user of a session, unless the cookie is wrong or the session has ended.
func (s sessions) User(cookie string, now time.Time) (user string, ok bool) {
	name, secret, _ := strings.Cut(cookie, ".")
	h, err := pool.ParseHandle[session](name)
	if err != nil {
		return "", false
	}
	found, ok := s.live.Get(h)
	if !ok || subtle.ConstantTimeCompare([]byte(secret), []byte(found.secret)) == 0 || now.After(found.end) {
		return "", false
	}
	return found.user, true
}

// Expire removes the sessions that have ended and returns how many they are.
func (s sessions) Expire(now time.Time) int {
	return s.live.DeleteFunc(func(_ pool.Handle[session], v *session) bool { return now.After(v.end) })
}
