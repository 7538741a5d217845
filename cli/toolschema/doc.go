// Package toolschema describes the JSON Schemas of tools for people: the fields of
// arguments and results as a table, and an example.
//
// Of replan it imports internal/untrusted alone. Start reading at [Fields].
package toolschema
