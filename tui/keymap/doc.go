// Package keymap defines what a user can do: actions, their places and groups, and
// the key bindings, which the configuration may change. Texts take key names from
// here. Each part of the screen has its actions in a [Table].
//
// Start with [Row] and [Map]. It imports no other package of the screen.
package keymap
