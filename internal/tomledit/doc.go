// Package tomledit changes one value of a TOML document and leaves every other
// byte as it is: comments, order, blank lines and line ends. It finds the bytes
// by the ranges of go-toml's parser and compares the values before and after.
//
// It imports nothing of replan. Start reading at [Set].
package tomledit
