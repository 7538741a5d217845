// Package lsp asks language servers about the source files of one workspace:
// where names are declared and used, which edits a rename comes to, and what is
// wrong with a file. It changes no file: changes are returned as edits.
//
// A server is a program of the user's machine (gopls, rust-analyzer,
// typescript-language-server, pyright, clangd). It is looked up on PATH outside
// the workspace, started at the first question about its language, and ended by
// [Servers.Close]. It runs in a session of its own, without a terminal and
// without secrets in its environment. Its settings keep it from downloading and
// from running code of the project: build scripts, macros and plugins.
//
// Messages have the types of powernap's protocol package and travel over
// jsonrpc2. powernap's own client starts its processes itself, without isolation.
// Its connection panics on a message without params and cannot cancel a request,
// so neither is used.
//
// The package imports source, the types of the answers, and child, the isolation of
// processes. Start reading at [Servers] in servers.go.
package lsp
