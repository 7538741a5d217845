package tests

import (
	"log/slog"
	"time"

	"replan/mcpclient/child"
	"replan/mcpclient/workspace/tree"
)

// Config says what the operators work on.
type Config struct {
	Tree   *tree.Tree
	Runner *child.Runner
	Logger *slog.Logger
	// Margin is how much earlier than the limit of a call the go command is to stop a
	// test that hangs; 0 is a tenth of the limit.
	Margin time.Duration
}

// Operators are the operators that run the tests and the linters of the workspace.
type Operators struct {
	tree   *tree.Tree
	runner *child.Runner
	log    *slog.Logger
	margin time.Duration
}

// New makes the operators.
func New(cfg Config) *Operators {
	return &Operators{tree: cfg.Tree, runner: cfg.Runner, log: cfg.Logger, margin: cfg.Margin}
}
