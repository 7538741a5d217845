// Package mcp holds the commands of replan mcp: list, add, remove, test and import
// MCP servers, log in to them and out.
//
// It imports cli/app, which opens what the commands need. Start reading at [New]; edit.go
// changes files, check.go starts servers, login.go logs in.
package mcp
