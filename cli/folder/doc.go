// Package folder provides what the screen shows about the working folder before
// anything runs: its git branch, and suitable goals. It starts no program and
// imports only internal/lazyregexp of replan. Start with [Branch] and
// [ExampleGoals].
package folder
