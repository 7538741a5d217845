// Package memory holds the operators memory.*: the user's own facts and
// preferences, in a file of Markdown that the user may edit. It lies outside the
// workspace. No secret is remembered, as what is here is sent to models.
//
// Of the workspace it imports op, change and tree. Start reading at memory.go;
// facts.go knows the file, and secret.go tells secrets from facts.
package memory
