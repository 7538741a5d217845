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

// turn waits for a turn, see Config.Turn.
type turn = func(context.Context) (release func(), err error)

// Operators are the operators for the git repository that contains the workspace. Each has
// what it works with.
type Operators struct {
	*reader
	*transfers
	differ    *differ
	shower    *shower
	committer *committer
	pusher    *pusher
}

// New returns the operators.
func New(cfg Config) *Operators {
	all := &repositories{tree: cfg.Tree, runner: cfg.Runner, log: cfg.Logger, maxOutput: cfg.MaxOutput}
	return &Operators{
		reader:    &reader{repositories: all, tree: cfg.Tree},
		transfers: &transfers{repositories: all, turn: cfg.Turn},
		differ:    &differ{repositories: all},
		shower:    &shower{repositories: all},
		committer: &committer{repositories: all, tree: cfg.Tree, turn: cfg.Turn},
		pusher:    &pusher{repositories: all, turn: cfg.Turn},
	}
}
