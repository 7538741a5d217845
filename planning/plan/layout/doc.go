// Package layout places the steps of a plan and the lines between them. It holds
// pure values: no styles, no glyphs and no terminal. The screen, the line log and
// the transcript draw its layouts.
//
// It imports planning/plan alone. Start reading at [NewRails] and [Layered].
package layout
