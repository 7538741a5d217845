// Package memory implements the operators memory.*: the user's own facts and
// preferences, in a Markdown file that the user may edit. The file is outside
// the workspace. The package stores no secrets, because the memory is sent to
// models.
//
// Of the workspace it imports op, change and tree. Start reading at memory.go;
// facts.go parses the file, and secret.go tells secrets from facts.
package memory
