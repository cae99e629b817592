package jobs

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

// Main runs a command for the packages on its command line, by default the standard library. An
// interrupt ends ctx, and a second one ends the program at once.
func Main(name string, run func(ctx context.Context, patterns []string) error) {
	flag.Parse()
	patterns := flag.Args()
	if len(patterns) == 0 {
		patterns = []string{"std"}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	if err := run(ctx, patterns); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
