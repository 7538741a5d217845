// Package jsonparts writes JSON in parts, so that a large value never has all its JSON in
// memory. It imports no other package of replan. Start with [Write].
package jsonparts
