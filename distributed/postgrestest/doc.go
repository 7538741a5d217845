// Package postgrestest runs a real PostgreSQL server for tests, with the programs that
// are installed on this machine. Tests are skipped where there are none. The server
// listens on loopback, keeps its data in a temporary folder and ends with the test
// binary, also if that is killed.
//
// It imports nothing of replan. Start with [Server.Database].
package postgrestest
