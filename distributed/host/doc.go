// Package host carries out runs as workflows of DBOS, an engine for durable execution that
// keeps its state in PostgreSQL or SQLite. A workflow is a run. Each batch of events that
// the run's session journals is one step of the workflow, recorded before anything acts on
// it. A process that takes a run up reads those steps and resumes. Whatever another
// process began and did not record the end of is in doubt.
//
// It imports the core, agent/runner, agent/remote and DBOS. Start with [Host] in
// host.go, then host_workflow.go; a run in this process is live.go.
package host
