// Package records is what the database holds of runs and workers. The steps of a workflow,
// each a batch of events, are in the tables of DBOS. Workers, large values and checkouts are
// in tables of their own. The database is PostgreSQL, or SQLite for a single machine.
//
// It imports the core, agent/remote, agent/store/values and DBOS. Start with [Open] in database.go,
// which lists the parts of a database, then records.go.
package records
