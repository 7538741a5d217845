// Package cli is the command line: it reads flags, environment and
// configuration, wires the rooms of the program together and turns what comes
// of it into an exit code. It alone imports every other package. What is in force
// is put together in cli/config; the commands of the chat are run by cli/slash.
//
// Start reading at [Main]; the commands are grouped in options.go, and session.go
// opens what a session works with.
package cli
