// Package oauthtest is an authorization server, and MCP servers that it protects, for
// tests. The authorization server checks all that it is sent and approves at once, as
// if its user had agreed.
//
// It imports nothing of replan. Start with [NewAuthority] and [NewResource].
package oauthtest
