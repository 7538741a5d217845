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

// Operators are the operators that run the tests and linters of the workspace. Each has what
// it works with.
type Operators struct {
	projects *projects
	runner   *runner
	linters  *linters
}

// New returns the operators.
func New(cfg Config) *Operators {
	named := &targets{tree: cfg.Tree}
	py := &python{tree: cfg.Tree, children: cfg.Runner, targets: named}
	found := &projects{tree: cfg.Tree, targets: named, python: py, margin: cfg.Margin}
	return &Operators{
		projects: found,
		runner:   &runner{tree: cfg.Tree, children: cfg.Runner, log: cfg.Logger, targets: named, projects: found, sources: &sources{tree: cfg.Tree}},
		linters:  &linters{tree: cfg.Tree, children: cfg.Runner, targets: named, projects: found, python: py},
	}
}
