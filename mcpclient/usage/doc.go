// Package usage counts the calls of a server's tools and measures their latency.
// It imports the standard library alone. Start with [Record].
package usage
