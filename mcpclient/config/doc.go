// Package config reads the configuration files of MCP servers: who configured a
// server, and how to start or reach it. It starts nothing.
//
// It imports planning and the names of the built-in servers. Start with [Read].
package config
