// Package config puts together what is in force: the flags, the environment and
// the user's configuration file, in this order. It reads files and starts
// nothing; what is wrong is an error that names the flag or the key.
//
// Of the rest of replan it imports what the values are made of: limits and rules
// of the core, profiles of the runner, themes and keys of the screen, the folders
// of the store. Start reading at [Options].
package config
