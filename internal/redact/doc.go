// Package redact removes secrets from everything that leaves the program: logs,
// prompts, exports, crash reports, and the environment of child processes. Journals
// stay complete. The package imports no other package of replan. Start with
// [Text].
package redact
