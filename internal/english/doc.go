// Package english formats counts and lists for English sentences, and finds
// the word that a mistyped one was meant to be. It imports no other package of
// replan. Start with [Count] and [List].
package english
