// Package event defines the events of a run: their kinds, their data and their
// JSON. Journals and --output json hold one JSON object per line. The package
// also reads journals of older versions.
//
// Start with [Event] and [Kind] in event.go; data.go defines the data of each
// kind. Events of a kind that is [Kind.Passing] may be dropped on their way to a
// screen. All others are kept and delivered in order.
//
// The package holds data only; package agent decides what follows from it. It
// imports planning, and package rule because the first event carries the rules.
package event
