package git

import (
	"context"
	"log/slog"

	"replan/mcpclient/child"
	"replan/mcpclient/workspace/tree"
)

// Config configures the operators.
type Config struct {
	Tree   *tree.Tree
	Runner *child.Runner
	// Turn waits until no other call is making changes. The returned function ends
	// the turn.
	Turn func(context.Context) (release func(), err error)
	// MaxOutput is the maximum size of a returned diff in bytes.
	MaxOutput int
	Logger    *slog.Logger
}

// Operators implements the operators for the git repository that contains the
// workspace.
type Operators struct {
	tree      *tree.Tree
	runner    *child.Runner
	turn      func(context.Context) (release func(), err error)
	maxOutput int
	log       *slog.Logger
}

// New returns the operators.
func New(cfg Config) *Operators {
	return &Operators{tree: cfg.Tree, runner: cfg.Runner, turn: cfg.Turn, maxOutput: cfg.MaxOutput, log: cfg.Logger}
}
