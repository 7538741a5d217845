// Package cli is the command line. It reads flags, environment and configuration,
// connects the parts of the program, and converts the outcome to an exit code. It
// alone imports every other package. cli/config computes the settings in force;
// cli/slash runs the commands of the chat.
//
// Start reading at [Main]; the commands are grouped in options.go, and session.go
// opens what a session works with.
package cli
