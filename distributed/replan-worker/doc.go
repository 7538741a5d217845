// Replan-worker carries out runs that replan submits to a database, on as many machines
// as it is started on.
//
// It imports cli, for processes that replan starts of itself, and distributed/worker. Start
// with main.go.
package main
