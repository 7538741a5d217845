// Package session holds what a session and its user tell each other: the
// answers to the user's questions, and what the session reports unasked about
// itself. It is data only; the session that sends it is in package runner.
//
// It imports the core and planning. Start reading at [Status].
package session
