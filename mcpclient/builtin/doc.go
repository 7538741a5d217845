// Package builtin is what the clients of this program and its built-in server agree
// on. It has the name of the server, and the keys of `_meta` by which a call is
// previewed and approved. It imports no other package of this program. Start with
// [MetaPreview].
package builtin
