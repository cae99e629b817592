package pooltest

// Noted returns for how many pools Empty has noted what it has reported.
func Noted() (n int) {
	drops.Range(func(_, _ any) bool { n++; return true })
	return n
}

// Running returns how many tests are under way, and how many have begun.
func Running() (all, begun int) {
	tests.mu.Lock()
	defer tests.mu.Unlock()
	return len(tests.open), tests.begun
}
