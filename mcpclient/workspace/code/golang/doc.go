// Package golang finds the uses of a Go name and renames it, for when gopls is
// not installed. It reads the module of a file with the go command and the
// type checker of the standard library. It runs no code of the module and
// changes no file.
//
// A rename is type-checked before it is returned. It is refused if the code
// would no longer compile, or if a name would refer to something else.
//
// The package imports source for the types of the answers. Start reading at
// [Project] in golang.go.
package golang
