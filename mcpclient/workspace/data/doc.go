// Package data implements the operator data.set. It sets one value of a file of JSON,
// TOML, YAML or plain settings, or of a constant in code. It leaves every other byte
// as it is.
//
// Of the workspace it imports op, tree, change and code/source. Start reading at
// [Operators.Tools].
package data
