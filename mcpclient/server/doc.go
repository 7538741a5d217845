// Package server holds one MCP server: it starts, supervises and restarts it, knows its
// state and what it offers, and calls its tools. It does not know the other servers.
//
// It imports planning, mcpclient/connection, mcpclient/trust and the packages below
// mcpclient that describe a server. Start with [Server], then state.go, which holds all
// changes of its state.
package server
