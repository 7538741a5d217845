// Package settings holds the commands of replan config: they list, read, change and
// check the user's settings.
//
// It imports cli/app, and cli/config, which knows the settings and writes the file. Start
// reading at [New]; edit.go opens the user's editor.
package settings
