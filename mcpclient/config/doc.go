// Package config reads and edits the configuration files of MCP servers: who
// configured a server, and how to start or reach it. It starts nothing.
//
// It imports planning and the names of the built-in servers. Start with [Read];
// entry.go holds the keys of a server, edit.go changes files, and programs.go finds
// those of other programs.
package config
