// Package chat holds the commands of the chat, which begin with a slash: those about the
// session, and those that the shell has too.
//
// It imports cli/app, cli/slash and the packages of these commands. Start at [Commands].
package chat
