// Package complete completes command lines in the shell: runs, plans, tools,
// themes, models, profiles and the values of flags.
//
// It is a part of the command line, and imports other parts of it. It also imports cobra,
// the store, the model's client, the files of MCP servers and wording. Start reading at
// [Register].
package complete
