// Package child runs child processes without secrets in their environment,
// without a terminal, and in a process group that ends as a unit.
//
// Of this program it imports internal/redact and mcpclient/box. Start reading at [Start], which
// starts a process, and [Runner.Run], which runs a command to its end.
package child
