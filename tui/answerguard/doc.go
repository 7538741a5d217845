// Package answerguard decides whether a key answers a dialog that opened by itself, or
// belongs to a text that the user types for the input. It holds all rules of that kind.
// They say how long a new dialog ignores keys, how long a letter waits for another one, and
// when letters are a text.
//
// It imports the keys, and no dialog or pane. Start reading at [Guard], which each such
// dialog has, and then at [Letters], which the screen has.
package answerguard
