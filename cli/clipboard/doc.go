// Package clipboard reads the clipboard of the desktop by the programs that are there for
// it, since a terminal pastes no pictures.
//
// It imports mcpclient/child and internal/picture. Start at [Reader.Read] in clipboard.go;
// programs.go has a row a program.
package clipboard
