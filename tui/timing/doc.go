// Package timing computes from a run when its steps waited and ran, which steps ran
// at once, and which path was critical.
//
// It imports the core alone. Start with [NewTimeline]: each step becomes a [Track] of stretches of time.
package timing
