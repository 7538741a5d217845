// Package complete completes command lines in the shell: runs, plans, tools,
// themes, models, profiles and the values of flags.
//
// It is a part of the command line: it imports cobra, the store, the model's client,
// the files of MCP servers, wording and other parts of the command line. Start
// reading at [Register].
package complete
