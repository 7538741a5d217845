// Package panes knows where the panes of the screen are, which of them has the focus, and how
// the user divides the screen between them. It draws nothing and knows no pane.
//
// It imports the keys, for the words of reasons, and rectangles of draw. Start reading at
// [Arrangement].
package panes
