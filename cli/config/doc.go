// Package config computes the settings in force from the flags, the environment
// and the user's configuration file, in this order of precedence. It reads files
// and starts nothing; errors name the flag or key.
//
// Of the rest of replan it imports the types of the values. These are limits and
// rules of the core, profiles of the runner, themes and keys of the screen, and
// the folders of the store. Start reading at [Options].
package config
