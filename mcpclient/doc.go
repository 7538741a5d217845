// Package mcpclient manages all available tools: it decides which MCP servers there are
// and which of them a call goes to. It starts the configured servers over standard streams,
// streamable HTTP or SSE, beside the built-in servers of this process.
//
// A project's own servers start only after the user allows them (package trust). Package
// server supervises one server and calls its tools; package connection reaches it. Child
// processes run in their own process groups, with the variables that
// [child.ServerEnviron] lists, and end with the pool.
//
// It imports planning and the packages below it other than workspace. Start with
// [Pool].
package mcpclient
