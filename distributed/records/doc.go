// Package records is what the database holds of runs and workers: the steps of a
// workflow, each a batch of events, in the tables of DBOS, and workers, large values and
// checkouts in tables of its own. The database is PostgreSQL, or SQLite for a single machine.
//
// It imports the core, agent/remote, agent/store/values and DBOS. Start with [Open] in database.go,
// which lists the parts of a database, then records.go.
package records
