// Package args checks the arguments and flags of commands, and says what was probably
// meant.
//
// It imports cli/exit and cli/help. Start at [One].
package args
