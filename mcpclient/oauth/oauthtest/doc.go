// Package oauthtest is an authorisation server, and MCP servers that it protects, for
// tests. The authorisation server checks all that it is sent and approves at once, as
// if its user had agreed.
//
// It imports nothing of replan. Start with [NewAuthority] and [NewResource].
package oauthtest
