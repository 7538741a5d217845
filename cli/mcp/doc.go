// Package mcp holds the commands of replan mcp: list, add, remove, test and import
// MCP servers, log in to them and out.
//
// It is a part of the command line and may import every room but cli itself, which
// gives it what it needs as a [Host]. Start reading at [New]; edit.go changes files,
// check.go starts servers, login.go logs in.
package mcp
