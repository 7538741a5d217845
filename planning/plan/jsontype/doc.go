// Package jsontype reads the JSON Schemas of tools, which every server generates in
// its own way, into one simple form. The grammar of plans, the list of tools, the
// arguments of a call and the tools of the chat are all made from it.
//
// It imports planning/plan alone. Start reading at [Read].
package jsontype
