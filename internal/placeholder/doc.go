// Package placeholder finds what stands in a text for content that was not written:
// "// ... rest of the code", "{{version}}", "[insert text here]". Small models write
// such texts into files and plans.
//
// It knows files by their names alone, and imports only internal/lazyregexp of this
// program. Start reading at [Find].
package placeholder
