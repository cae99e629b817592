package pooltest

// Noted returns for how many pools Empty has noted what it has reported.
func Noted() (n int) {
	drops.Range(func(_, _ any) bool { n++; return true })
	return n
}
