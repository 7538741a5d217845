package workspace

// codeOperators are the tools for source code. None of them changes a file.
func (o *Operators) codeOperators() []operator {
	within := optional("path", "string", "folder or file to look in, relative to the workspace; the whole workspace where it is left out")
	none := optional("allow_none", "boolean", "answer that there is none, with a note, where nothing has the name, instead of failing")
	symbol := func(what string) arg {
		return needed("symbol", "string", what+", like Parse, Run.Apply or agent.Run.Apply; for Go also a place like run.go:12:5")
	}
	return []operator{
		{
			name: "code.symbols",
			description: "List the names that source files declare. " +
				"The result is {path, by, symbols: [{name, kind, path, line, column, text, end_line, signature, doc, parent, exported}], total, truncated, note}.",
			args: []arg{
				within,
				optional("query", "string", "only names that hold this text, in upper or lower case"),
				optional("max", "integer", "how many symbols to return; 200 where it is left out"),
			},
			readOnly: true, idempotent: true, result: symbolsResult{}, run: o.symbols,
		},
		{
			name: "code.definition",
			description: "Find where a name is declared. Fails with near names where nothing is called so. " +
				"The result is {symbol, by, definitions: [{name, kind, path, line, signature, doc, …}], total, note}.",
			args:     []arg{symbol("name of a function, type, method, field or variable"), within, none},
			readOnly: true, idempotent: true, result: definitionResult{}, run: o.definition,
		},
		{
			name: "code.references",
			description: "Find where a name is used: by types in Go modules, elsewhere as a word outside strings and comments; by says which. " +
				"The result is {symbol, name, by, definition, references: [{path, line, column, text, in, definition}], total, truncated, note}.",
			args: []arg{
				symbol("name to look for"),
				within,
				none,
				optional("max", "integer", "how many references to return; 500 where it is left out"),
			},
			readOnly: true, idempotent: true, result: referencesResult{}, run: o.references,
		},
		{
			name: "code.parse",
			description: "Read one source file and say what is in it. " +
				"The result is {path, language, by, package, imports, lines, outline: [symbols], note}.",
			args:     []arg{needed("path", "string", "file, relative to the workspace")},
			readOnly: true, idempotent: true, result: parseResult{}, run: o.parse,
		},
		{
			name: "code.transform",
			description: "Work out a change of many places and return it as a diff; nothing is written. Give the diff and hashes to fs.patch to make the change. " +
				`rename: {"kind": "rename", "symbol": "Run.Apply", "new_name": "Fold"}. replace: {"kind": "replace", "pattern": "v1", "replacement": "v2", "glob": "*.md"}. ` +
				"The result is {kind, by, diff, files, edits, hashes, note}.",
			args: []arg{
				{name: "kind", kind: "string", description: "rename a name wherever it is used, or replace text", required: true, enum: []string{"rename", "replace"}},
				optional("symbol", "string", "rename: the name that is to go, like Run.Apply"),
				optional("new_name", "string", "rename: the new name, without what stands before it"),
				optional("pattern", "string", "replace: the text to find, or a regular expression where regex is true"),
				optional("replacement", "string", "replace: the text to put there; with regex $1 is the first group"),
				optional("regex", "boolean", "replace: read pattern as a regular expression (RE2); ^ and $ are of lines"),
				optional("glob", "string", "replace: only files of this pattern, like *.go or docs/**/*.md"),
				optional("path", "string", "only in this folder or file; the whole workspace where it is left out"),
			},
			oneOf:    [][]string{{"symbol", "new_name"}, {"pattern", "replacement"}},
			readOnly: true, idempotent: true, result: transformResult{}, run: o.transform,
		},
		{
			name: "code.summarize",
			description: "Sum up by rule, with no model: a file or text, a diff (title is a commit subject), a log, a test report, or where a symbol is found and used. " +
				"Give one or several; tests with log also names the commits that touched failing files. The result is {kind, title, summary}, summary as Markdown.",
			args: []arg{
				optional("text", "string", "text of a file"),
				optional("path", "string", "file to sum up, or the name of the file that text is of"),
				optional("diff", "string", "unified diff"),
				optional("log", "object", "result of vcs.log"),
				optional("tests", "object", "result of test.run"),
				optional("matches", "object", "result of fs.search"),
				optional("symbol", "string", "name to explain; with matches, what was searched for"),
			},
			oneOf:    [][]string{{"text"}, {"path"}, {"diff"}, {"log"}, {"tests"}, {"matches"}, {"symbol"}},
			readOnly: true, idempotent: true, result: summaryResult{}, run: o.summarize,
		},
	}
}
