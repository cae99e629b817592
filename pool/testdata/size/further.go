//go:build further

package main

func init() {
	verbs([2]float64{})
	verbs(struct {
		name string
		next *int
	}{})
}
