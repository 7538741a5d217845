// Package clock beats for the animations of the screen and tells the time of its
// events.
//
// It imports Bubble Tea alone. Start with [Clock].
package clock
