// Package worker has the commands of replan-worker. Work carries out runs, doctor says
// what this machine offers, prune removes old runs, and attach speaks for replan with the
// database.
//
// It imports cli, which knows the tools and the model of a folder, tui/wording for
// sizes, and the other packages of the module. Start with [Main] in worker.go.
package worker
