// Package keymap holds what a user can do and the keys for it: actions, their places
// and groups, and the bindings, which the configuration may change. Texts take the
// names of keys from here.
//
// Start with [Action] and [Map]. It imports no other package of the screen.
package keymap
