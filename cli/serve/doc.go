// Package serve offers plans and runs to other programs as an MCP server: over
// standard input and output, and over HTTP on this machine.
//
// Each call that plans or runs gets a session of its own. So calls do not wait for each
// other until [callsAtOnce] of them are busy. The end of a call ends its run, which can be
// resumed. The end is a notification of its cancel, a connection that closes, or the end
// of the program.
//
// It imports the core, the results of plan tools, the story of a run and the line log,
// which words gates. It opens no files and knows no flags; the command line gives it a
// [Backend]. Start with [New], then [call].
package serve
