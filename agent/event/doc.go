// Package event says what happened in a run: the kinds of events, their data and
// their JSON, one object a line, as journals hold them and as --output json prints
// them. Journals of older versions are read too.
//
// Start with [Event] and [Kind] in event.go; data.go has the data of each kind. A
// kind that is [Kind.Passing] may be dropped on its way to a screen; every other
// is kept and delivered in order.
//
// The package holds data alone: package agent decides what follows from it. It
// imports planning and package rule, whose rules travel in the first event.
package event
