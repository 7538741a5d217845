// Package markdown quotes text from outside in Markdown, as a code span or a fenced block
// that the text cannot close. It also finds the fenced blocks of a text. It imports only
// english. Start with [Code] and [Fence].
package markdown
