// Package process holds the operator proc.run, which runs any program in the
// workspace. A gate stands before it: nothing here keeps a program from doing what
// its user may do.
//
// Of the workspace it imports op and tree. Start reading at [Operators.Tools].
package process
