// Package layout decides where the steps of a plan and the lines between them
// are drawn. It holds pure values: no styles, no glyphs and no terminal. The
// screen, the line log and the transcript draw what it lays out.
package layout
