// Package pooltest helps tests of MCP servers: pools that end with a test, servers that
// are this test binary in a role, with faults if need be, and servers over HTTP. A test
// package that uses children has [Main] as its TestMain.
//
// It imports mcpclient. Start with [New] and [Child].
package pooltest
