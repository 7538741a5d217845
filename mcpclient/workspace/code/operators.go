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

// Operators are the operators for source code. Each has what it works with.
type Operators struct {
	finder      *finder
	referrer    *referrer
	outliner    *outliner
	transformer *transformer
	editor      *editor
	summarizer  *summarizer
}

// New returns the operators.
func New(cfg Config) *Operators {
	words := &wordReader{tree: cfg.Tree}
	names := &resolver{tree: cfg.Tree, words: words, environ: cfg.Environ, servers: cfg.Servers, missing: cfg.MissingServer}
	outlines := &outliner{tree: cfg.Tree, resolver: names, servers: cfg.Servers}
	finds := &finder{tree: cfg.Tree, words: words, resolver: names, maxOutput: cfg.MaxOutput}
	refers := &referrer{words: words, resolver: names, finder: finds}
	renames := &wordRenamer{words: words, finder: finds}
	return &Operators{
		finder: finds, referrer: refers, outliner: outlines,
		transformer: &transformer{tree: cfg.Tree, resolver: names, finder: finds, referrer: refers, renamer: renames},
		editor:      &editor{tree: cfg.Tree, changes: cfg.Changes, words: words, resolver: names, finder: finds},
		summarizer:  &summarizer{tree: cfg.Tree, words: words, outliner: outlines, finder: finds, referrer: refers, touching: cfg.Touching, log: cfg.Logger},
	}
}
