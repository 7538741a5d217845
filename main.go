// Replan is a full-screen terminal program that plans a goal with a local
// model, runs the plan live over tools, and replans before your eyes.
package main

import (
	"context"
	"os"
	"runtime/debug"

	"replan/cli"
)

// softMemory is the size in bytes from which garbage is collected more often, because
// large results leave much of it. It bounds nothing.
const softMemory = 200 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
	}
	cli.Stamp()
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.System()))
}
