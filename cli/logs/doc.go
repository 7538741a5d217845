// Package logs keeps what the program and its libraries log in a file, never on the
// screen.
//
// It imports internal/redact and cli/exit. Start at [Open].
package logs
