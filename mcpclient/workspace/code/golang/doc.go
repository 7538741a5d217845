// Package golang tells the uses of a Go name, and renames it, where gopls is not
// installed. It reads the module of a file through the go command and the type
// checker of the standard library, runs none of its code and changes no file.
//
// A rename is type-checked before it is returned. It is refused where the code
// would no longer compile, or where a name would mean something else.
//
// The package imports source, the types of the answers. Start reading at
// [Project] in golang.go.
package golang
