// Package mcpclient manages all available tools. It starts the configured MCP
// servers over standard streams, streamable HTTP or SSE, beside the built-in
// servers of this process. It supervises them and calls their tools.
//
// A project's own servers start only after the user allows them. Child
// processes run in their own process groups, with the variables that
// [child.ServerEnviron] lists, and end with the pool. Lost servers are
// restarted; calls wait for them.
//
// It imports planning and the packages below it other than workspace. Start with
// [Pool].
package mcpclient
