package code

import (
	"context"
	"log/slog"

	"replan/mcpclient/workspace/code/lsp"
	"replan/mcpclient/workspace/tree"
)

// Config says what the operators work on.
type Config struct {
	Tree *tree.Tree
	// Environ is what the go command inherits, as NAME=VALUE.
	Environ []string
	// MaxOutput is how many bytes of text a search reads at most.
	MaxOutput int
	// Touching returns the hashes of the newest commits that touched one of the
	// files.
	Touching func(ctx context.Context, files []string) ([]string, error)
	// Servers are the language servers of the workspace; nil is none.
	Servers *lsp.Servers
	// MissingServer is told of a server that is not installed; nil is not told.
	MissingServer func(p lsp.Program)
	Logger        *slog.Logger
}

// Operators are the operators for source code.
type Operators struct {
	tree      *tree.Tree
	environ   []string
	maxOutput int
	touching  func(ctx context.Context, files []string) ([]string, error)
	servers   *lsp.Servers
	missing   func(p lsp.Program)
	log       *slog.Logger
}

// New makes the operators.
func New(cfg Config) *Operators {
	return &Operators{tree: cfg.Tree, environ: cfg.Environ, maxOutput: cfg.MaxOutput, touching: cfg.Touching, servers: cfg.Servers, missing: cfg.MissingServer, log: cfg.Logger}
}
