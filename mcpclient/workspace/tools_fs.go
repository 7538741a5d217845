package workspace

// fileOperators are the tools for files.
func (o *Operators) fileOperators() []operator {
	return []operator{
		{
			name:        "fs.read",
			description: "Read a text file of the workspace. The result is the text of the file.",
			args: []arg{
				needed("path", "string", "file, relative to the workspace"),
				optional("offset", "integer", "first line to read, from 1"),
				optional("limit", "integer", "how many lines to read; all where it is left out"),
			},
			readOnly: true, idempotent: true, run: o.read,
		},
		{
			name:        "fs.list",
			description: "List files and folders of the workspace. The result is {path, entries: [{path, type, size}], truncated}.",
			args: []arg{
				optional("path", "string", "folder, relative to the workspace; the workspace itself where it is left out"),
				optional("depth", "integer", "how many levels deep; 1 where it is left out"),
			},
			readOnly: true, idempotent: true, result: listResult{}, run: o.list,
		},
		{
			name:        "fs.search",
			description: "Search the text of the workspace's files, line by line. The result is {matches: [{path, line, text}], total, truncated}.",
			args: []arg{
				{name: "query", kind: "string", description: "text to find, or a regular expression where regex is true", required: true},
				optional("path", "string", "folder or file to search in; the whole workspace where it is left out"),
				optional("regex", "boolean", "read query as a regular expression (RE2)"),
				optional("glob", "string", "search only files of this pattern, like *.go or internal/**/*.ts"),
				optional("max", "integer", "how many matches to return; 200 where it is left out"),
			},
			readOnly: true, idempotent: true, result: searchResult{}, run: o.search,
		},
		{
			name: "fs.patch",
			description: "Change files of the workspace. Either replace a text in one file: give path, old and new; old must occur exactly once unless all is true. " +
				"Or give a unified diff over one or several files. All changes are made or none. " +
				`Example: {"path": "auth/user.go", "old": "return nil", "new": "return err"}. ` +
				"The result is {files: [{path, added, removed}], diff}.",
			args: []arg{
				optional("path", "string", "file, relative to the workspace"),
				optional("old", "string", "the exact text to replace, with its indentation"),
				optional("new", "string", "the text to put there"),
				optional("all", "boolean", "replace every occurrence of old"),
				optional("diff", "string", "unified diff with --- a/PATH, +++ b/PATH and @@ lines, instead of path, old and new"),
			},
			oneOf:       [][]string{{"path", "old", "new"}, {"diff"}},
			destructive: true, previews: true, result: changeResult{}, run: o.patch,
		},
		{
			name:        "fs.write",
			description: "Create a text file of the workspace or replace it whole. To change a part of a file use fs.patch. The result is {files: [{path, added, removed}], diff}.",
			args: []arg{
				needed("path", "string", "file, relative to the workspace; missing folders are made"),
				{name: "text", kind: "string", description: "the whole text of the file", required: true},
			},
			destructive: true, previews: true, result: changeResult{}, run: o.write,
		},
	}
}
