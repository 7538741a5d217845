// Package handshake remembers how the connection to each MCP server begins, where
// the usual handshake fails.
//
// It imports mcpclient/config and internal/wholefile. Start with [Known].
package handshake
