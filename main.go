// Replan is a full-screen terminal program that plans a goal with a local
// model, runs the plan live over tools, and replans before your eyes.
package main

import (
	"context"
	"os"

	"replan/cli"
)

func main() {
	cli.Stamp()
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.System()))
}
