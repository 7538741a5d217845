// Package workers prepares the runs that workers carry out on other machines, for the
// command line. It finds the worker program, says which commands and flags make sense
// with --on, and makes a task of them.
//
// It imports agent/remote, the settings, and the processes of mcpclient/child. Start
// with program.go, then task.go.
package workers
