// Package lsp queries language servers about the source files of one workspace. It asks
// where names are declared and used, which edits a rename needs, and which problems a file
// has. It changes no file: changes are returned as edits.
//
// A server is a program on the user's machine (gopls, rust-analyzer,
// typescript-language-server, pyright, clangd). The package finds it on PATH
// outside the workspace, starts it for the first question about its language,
// and stops it in [Servers.Close]. The server runs in its own session, without
// a terminal and without secrets in its environment. Its settings prevent
// downloads and code of the project from running: build scripts, macros and
// plugins.
//
// Messages use the types of powernap's protocol package and travel over
// jsonrpc2. powernap's own client starts its processes itself, without
// isolation. Its connection panics on a message without params and cannot
// cancel a request, so neither is used.
//
// The package imports source for the types of the answers, and child for the
// isolation of processes. Start reading at [Servers] in servers.go.
package lsp
