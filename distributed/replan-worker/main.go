package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"replan/cli"
	"replan/distributed/worker"
)

func main() {
	cli.Stamp()
	if exit, ok := cli.Reentered(); ok {
		os.Exit(exit)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := worker.Main(ctx, os.Args[1:], cli.System())
	stop()
	os.Exit(code)
}
