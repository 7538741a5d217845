// Package source analyzes source text for the operators. It finds where names are declared
// and used, what a file contains, and which edits a rename or a replacement needs. It
// works on words in any language and recognizes strings and comments. The package golang
// does the same for Go by types.
//
// Nothing here changes a file: changes are returned as edits.
//
// It imports packages of internal. Start with [File].
package source
