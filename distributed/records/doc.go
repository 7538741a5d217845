// Package records is what the database holds of runs and workers: the steps of a
// workflow, each a batch of events, in the tables of DBOS, and the workers in a table
// of its own. The database is PostgreSQL, or SQLite for a single machine.
//
// It imports the core, agent/remote and DBOS. Start with [Open] in database.go, then
// records.go.
package records
