package poolhttp

// Entry returns the registry's entry of a name, its pool collected or not, or nil.
func Entry(name string) *entry {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	return registry.entries[name]
}
