package tests

import (
	"log/slog"
	"time"

	"replan/mcpclient/child"
	"replan/mcpclient/workspace/tree"
)

// Config configures the operators.
type Config struct {
	Tree   *tree.Tree
	Runner *child.Runner
	Logger *slog.Logger
	// Margin is how long before the limit of a call the go command stops a hanging
	// test; 0 means a tenth of the limit.
	Margin time.Duration
}

// Operators implements the operators that run the tests and linters of the
// workspace.
type Operators struct {
	tree   *tree.Tree
	runner *child.Runner
	log    *slog.Logger
	margin time.Duration
}

// New returns the operators.
func New(cfg Config) *Operators {
	return &Operators{tree: cfg.Tree, runner: cfg.Runner, log: cfg.Logger, margin: cfg.Margin}
}
