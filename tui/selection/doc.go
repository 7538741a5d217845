// Package selection selects text on the screen with the mouse: characters, words
// and lines, in the chat or in another part of the screen.
//
// It imports draw, and knows the chat as a [Conversation]. Start with
// [Selection].
package selection
