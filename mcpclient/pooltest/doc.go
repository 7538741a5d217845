// Package pooltest helps tests of MCP servers. It has pools that end with a test, and
// servers over HTTP. Other servers are this test binary in a role, with faults if need be.
// A test package that uses children has [Main] as its TestMain.
//
// It imports mcpclient. Start with [New] and [Child].
package pooltest
