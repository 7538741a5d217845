package code

import (
	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/op"
)

// Tools returns the tools for source code.
func (o *Operators) Tools() []op.Tool {
	return []op.Tool{
		op.Op[symbolsArgs, symbolsResult]{
			Name: "code.symbols",
			Description: "List the names that source files declare. " +
				"The result is {path, by, symbols: [{name, kind, path, line, column, text, end_line, signature, doc, parent, exported}], total, truncated, note}.",
			ReadOnly: true, Idempotent: true, Run: o.finder.symbols,
		}.Tool(),
		op.Op[definitionArgs, definitionResult]{
			Name: "code.definition",
			Description: "Find where a name is declared. Fails with similar names if there is none. " +
				"The result is {symbol, by, definitions: [{name, kind, path, line, signature, doc, …}], total, note}.",
			ReadOnly: true, Idempotent: true, Run: o.finder.definition,
		}.Tool(),
		op.Op[referencesArgs, referencesResult]{
			Name: "code.references",
			Description: "Find where a name is used, by type or else by name; by says which. " +
				"The result is {symbol, name, by, definition, references: [{path, line, column, text, in, definition}], total, truncated, note}.",
			ReadOnly: true, Idempotent: true, Run: o.referrer.references,
		}.Tool(),
		op.Op[parseArgs, parseResult]{
			Name: "code.parse",
			Description: "Read one source file and list its contents. " +
				"The result is {path, language, by, package, imports, lines, outline: [symbols], note}.",
			ReadOnly: true, Idempotent: true, Run: o.outliner.parse,
		}.Tool(),
		op.Op[transformArgs, transformResult]{
			Name: "code.transform",
			Description: "Compute a change in many places and return it as a diff; nothing is written. Pass diff and hashes to fs.patch to apply it. " +
				`rename: {"kind": "rename", "symbol": "Run.Apply", "new_name": "Fold"}. replace: {"kind": "replace", "pattern": "v1", "replacement": "v2", "glob": "*.md"}. ` +
				"The result is {kind, by, diff, files, edits, hashes, note}.",
			OneOf:    [][]string{{"symbol", "new_name"}, {"pattern", "replacement"}},
			Enum:     map[string][]string{"kind": {"rename", "replace"}},
			ReadOnly: true, Idempotent: true, Run: o.transformer.transform,
		}.Tool(),
		op.Op[summaryArgs, summaryResult]{
			Name: "code.summarize",
			Description: "Summarize without a model: a file, a folder, a text, a diff (title is a commit subject), a log, a test report or a symbol. " +
				"Give one or several; tests with log also names the commits that touched failing files. The result is {kind, title, summary}, summary as Markdown.",
			OneOf:    [][]string{{"text"}, {"path"}, {"diff"}, {"log"}, {"tests"}, {"matches"}, {"symbol"}},
			ReadOnly: true, Idempotent: true, Run: o.summarizer.summarize,
		}.Tool(),
		op.Op[removeArgs, change.Result]{
			Name: "code.remove",
			Description: "Remove a whole function, method, type, constant, variable or class with its comment, by its name. " +
				`Example: {"symbol": "legacyName", "path": "slug/slug.go"}. ` +
				"The result is {files: [{path, action, added, removed, note}], diff}; note names the uses that are left.",
			Destructive: true, Previews: true, Run: o.editor.remove,
		}.Tool(),
		op.Op[insertArgs, change.Result]{
			Name: "code.insert",
			Description: "Insert code before or after a function, type, constant or class, by its name, or text at the end of a file. " +
				"The result is {files: [{path, action, added, removed}], diff}.",
			Enum:        map[string][]string{"where": {"before", "after", "inside"}},
			Destructive: true, Previews: true, Run: o.editor.insert,
		}.Tool(),
		op.Op[commentArgs, change.Result]{
			Name: "code.comment",
			Description: "Set the doc comment or docstring of a function, type, constant or class, by its name. " +
				`Example: {"symbol": "Discount", "text": "Discount returns the reduced total."}. ` +
				"The result is {files: [{path, action, added, removed, note}], diff}.",
			Destructive: true, Idempotent: true, Previews: true, Run: o.editor.comment,
		}.Tool(),
	}
}
