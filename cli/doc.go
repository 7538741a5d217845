// Package cli is the command line: each command has its own options, a constructor that
// declares its flags, and a run function. The outcome becomes an exit code. It alone
// imports every other package. cli/app opens what commands need, cli/lines carries out
// runs without the full screen, and host.go decides where runs are carried out.
//
// Start reading at [Main]; the commands are in files of their names.
package cli
