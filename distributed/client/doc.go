// Package client submits runs to the database that workers take them from, follows
// them, and sends them commands.
//
// It imports the core, agent/remote, distributed/records and DBOS. Start with [Client]
// in client.go.
package client
