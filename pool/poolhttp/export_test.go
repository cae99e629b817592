package poolhttp

// Known reports whether the registry has an entry of a name, its pool collected or not.
func Known(name string) bool {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	return registry.entries[name] != nil
}
