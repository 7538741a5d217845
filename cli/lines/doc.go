// Package lines carries out the work of a session without the full screen. It prints
// events line by line or as JSON, and asks line by line.
//
// It imports cli/app, cli/ask and what a session and its user tell each other. Start
// at [Run].
package lines
