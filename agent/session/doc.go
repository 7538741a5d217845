// Package session holds what a session and its user tell each other. That is the user's
// commands and queries, the answers, and what the session reports unasked about itself. It
// is data only; the session itself is in package runner.
//
// It imports the core and planning. Start reading at [Command].
package session
