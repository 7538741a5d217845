package code

import (
	"context"
	"log/slog"

	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/code/lsp"
	"replan/mcpclient/workspace/tree"
)

// Config configures the operators.
type Config struct {
	Tree *tree.Tree
	// Changes writes the files that operators change.
	Changes *change.Writer
	// Environ is the environment of the go command, as NAME=VALUE.
	Environ []string
	// MaxOutput is the maximum text that a search reads, in bytes.
	MaxOutput int
	// Touching returns the hashes of the newest commits that changed one of the
	// files.
	Touching func(ctx context.Context, files []string) ([]string, error)
	// Servers are the language servers of the workspace; may be nil.
	Servers *lsp.Servers
	// MissingServer is called for a server that is not installed; may be nil.
	MissingServer func(p lsp.Program)
	Logger        *slog.Logger
}

// Operators implements the operators for source code.
type Operators struct {
	tree      *tree.Tree
	changes   *change.Writer
	environ   []string
	maxOutput int
	touching  func(ctx context.Context, files []string) ([]string, error)
	servers   *lsp.Servers
	missing   func(p lsp.Program)
	log       *slog.Logger
}

// New returns the operators.
func New(cfg Config) *Operators {
	return &Operators{tree: cfg.Tree, changes: cfg.Changes, environ: cfg.Environ, maxOutput: cfg.MaxOutput, touching: cfg.Touching, servers: cfg.Servers, missing: cfg.MissingServer, log: cfg.Logger}
}
