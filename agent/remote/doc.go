// Package remote follows runs that workers carry out on other machines. [Attach] talks
// to a replan-worker program over its standard streams, one JSON value a line. It
// returns a session that the screen and the command line use like one of their own.
//
// It imports the core, agent/session, agent/store/values and planning/plan, and knows no
// database. Start with wire.go, which is also what a worker reads and writes.
package remote
