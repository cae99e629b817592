package atom

import "time"

const (
	// doubledUpTo is how long the pauses get that double. A shorter one would keep a processor awake.
	doubledUpTo = time.Millisecond

	// growth is how much longer each later pause is. So a loop that has waited for a second pauses for
	// 4 ms, and one that has waited for a minute for 31 ms.
	growth = 8 * time.Microsecond

	// longestPause is reached after ten minutes. In a bubble of package testing/synctest a loop that
	// waits for a day looks 0.9 million times, which takes some seconds; with pauses of a
	// millisecond each hour would take as long.
	longestPause = 100 * time.Millisecond
)

// Backoff returns how long a loop pauses that has paused so many times, and begins with the shortest
// pause.
func Backoff(paused int, shortest time.Duration) time.Duration {
	pause := shortest
	for ; paused > 0 && pause < doubledUpTo; paused-- {
		pause *= 2
	}
	return min(pause+time.Duration(min(paused, int(longestPause/growth)))*growth, longestPause)
}
