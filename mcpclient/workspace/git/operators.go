package git

import (
	"context"
	"log/slog"

	"replan/mcpclient/child"
	"replan/mcpclient/workspace/tree"
)

// Config says what the operators work on.
type Config struct {
	Tree   *tree.Tree
	Runner *child.Runner
	// Turn waits until no other call changes anything. The returned function ends
	// the turn.
	Turn func(context.Context) (release func(), err error)
	// MaxOutput is how many bytes of a diff are answered.
	MaxOutput int
	Logger    *slog.Logger
}

// Operators are the operators for the git repository that the workspace lies in.
type Operators struct {
	tree      *tree.Tree
	runner    *child.Runner
	turn      func(context.Context) (release func(), err error)
	maxOutput int
	log       *slog.Logger
}

// New makes the operators.
func New(cfg Config) *Operators {
	return &Operators{tree: cfg.Tree, runner: cfg.Runner, turn: cfg.Turn, maxOutput: cfg.MaxOutput, log: cfg.Logger}
}
