// Package folder says what the screen shows of the folder that replan works in
// before anything runs: its git branch, and goals that fit it. It starts no
// program and imports nothing of replan.
package folder
