// Package serve offers plans and runs to other programs as an MCP server: over
// standard input and output, and over HTTP on this machine.
//
// Each call that plans or runs gets a session of its own, so calls do not wait for
// each other until [callsAtOnce] of them are busy. The end of a call ends its run,
// which can be resumed: a notification of its cancel, a connection that closes, the
// end of the program.
//
// The package opens no files and knows no flags; the command line gives it a
// [Backend]. Start reading at [New], then [call].
package serve
