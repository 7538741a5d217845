// Package workspace wires the built-in operators and serves them in-process. They are
// tools of an MCP server that is reached through the same client as any other.
//
// No path leads out of the folder: every file is opened through an [os.Root]. Changes
// are all or nothing, can be previewed as a diff, and are refused if a file has
// changed since. Child processes get no secrets, and their process group ends with
// the call; a process that leaves its group (setsid) keeps running.
//
// The user's memory is the only file outside the folder that a call can change.
//
// This is the only package that imports the families of operators: files, git,
// tests, code, process, memory and undo. What they share is op, tree, change and
// grep. Start reading at [New].
package workspace
