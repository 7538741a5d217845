// Package plantool describes plans and runs for whoever called a plan tool: the
// model in chat, or another program's over replan serve. Both get the same fields.
// Names, descriptions and arguments of the tools are in planning/prompt.
//
// It imports agent and planning, and does no I/O. Start reading at [Created].
package plantool
