// Package cli is the command line. It reads flags, environment and configuration, and
// converts the outcome of a command to an exit code.
//
// It imports the packages of the commands: each has its own options, a constructor that
// declares its flags, and a run function. cli/app opens what they need, and cli/host
// decides where runs are carried out. Start reading at [Main].
package cli
