// Package undo keeps what was there before the changes of a run, and puts it back.
//
// Of the workspace it imports change and tree. Start reading at [Log.Record] and
// [Log.Undo].
package undo
