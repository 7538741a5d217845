// Package lazyregexp compiles regular expressions on first use. Compiling
// package-level expressions before main would delay the first frame.
//
// It imports nothing of replan. Start reading at [New].
package lazyregexp
