// Package story decides what a run says: which events are told to whom, in which words and
// which order. It also decides what is left out since it was said before.
//
// Start with [Story], which turns events into entries, and [Entry], which renderers draw.
// The chat, the line log, transcripts, the served progress and the results of single calls
// draw entries. None of them decides by the kind of an event of a run. What was told of
// models, gates and steps is remembered by a part for each, and a page collects the entries
// of an event. Words that other parts of the screen share come from wording. The package
// imports the core, planning and plantext; it knows no styles, widths or keys.
package story
