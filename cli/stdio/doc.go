// Package stdio provides standard input and output for an MCP server. It imports
// nothing of replan. Start reading at [Pipe].
package stdio
