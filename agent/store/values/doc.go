// Package values takes the large values out of the lines of events and puts them back.
// Where they are kept is for its users to say: beside a journal, or in a database.
//
// It imports agent/event and planning/plan. Start with [Extract] in values.go.
package values
