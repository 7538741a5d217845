// Package plantext draws plans and runs as lines of text without styles: a row for
// each step, with rails to its dependencies. The line log, the transcript and the
// commands for plan files print them.
//
// Start with [Plan]. The package imports the core, planning and themes, but nothing
// that draws the screen.
package plantext
