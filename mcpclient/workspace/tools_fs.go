package workspace

// fileOperators are the tools for files.
func (o *Operators) fileOperators() []operator {
	return []operator{
		{
			name: "fs.read",
			description: "Read a text file of the workspace, or a range of its lines. The result is the text; " +
				"where lines are left out its last line says which of how many they are and how to go on.",
			args: []arg{
				needed("path", "string", "file, relative to the workspace"),
				optional("offset", "integer", "first line to read, from 1"),
				optional("limit", "integer", "how many lines to read; all where it is left out"),
			},
			readOnly: true, idempotent: true, run: o.read,
		},
		{
			name:        "fs.list",
			description: "List files and folders of the workspace, without what git ignores. The result is {path, entries: [{path, type, size}], truncated}.",
			args: []arg{
				optional("path", "string", "folder, relative to the workspace; the workspace itself where it is left out"),
				optional("depth", "integer", "how many levels deep; 1 where it is left out"),
			},
			readOnly: true, idempotent: true, result: listResult{}, run: o.list,
		},
		{
			name: "fs.stat",
			description: "Look at one file or folder of the workspace without reading it. " +
				"The result is {path, type, size, lines, mode, modified, sha256, binary}.",
			args:     []arg{needed("path", "string", "file or folder, relative to the workspace")},
			readOnly: true, idempotent: true, result: statResult{}, run: o.stat,
		},
		{
			name: "fs.search",
			description: "Search the text of the workspace's files, line by line. Left out is what git ignores, and folders like vendor and node_modules unless path names them. " +
				"The result is {matches: [{path, line, text, before, after}], total, files, truncated, skipped}.",
			args: []arg{
				needed("query", "string", "text to find, or a regular expression where regex is true"),
				optional("path", "string", "folder or file to search in; the whole workspace where it is left out"),
				optional("regex", "boolean", "read query as a regular expression (RE2)"),
				optional("ignore_case", "boolean", "find capital and small letters alike"),
				optional("words", "boolean", "read query as words: find the lines of files that hold all of them in any order, whatever their endings, the best first"),
				optional("glob", "string", "search only files of this pattern, like *.go or internal/**/*.ts"),
				optional("context", "integer", "how many lines to show before and after each match; none where it is left out"),
				optional("max", "integer", "how many matches to return; 200 where it is left out"),
			},
			readOnly: true, idempotent: true, result: searchResult{}, run: o.search,
		},
		{
			name: "fs.patch",
			description: "Change files: give path, old and new to replace a text (old must occur once unless all is true), or a unified diff. " +
				"All is changed or nothing; a file that changed since it was read is refused. " +
				`Example: {"path": "auth/user.go", "old": "return nil", "new": "return err"}. ` +
				"The result is {files: [{path, action, added, removed}], diff}.",
			args: []arg{
				optional("path", "string", "file, relative to the workspace"),
				optional("old", "string", "the exact text to replace, with its indentation"),
				optional("new", "string", "the text to put there"),
				optional("all", "boolean", "replace every occurrence of old"),
				optional("diff", "string", "unified diff with --- a/PATH, +++ b/PATH and @@ lines, instead of path, old and new"),
				{name: "hashes", kind: "object", values: "string", description: "the SHA-256 of each file that the change was made against, by path; a file that differs is refused"},
			},
			oneOf:       [][]string{{"path", "old", "new"}, {"diff"}},
			destructive: true, previews: true, result: changeResult{}, run: o.patch,
		},
		{
			name:        "fs.write",
			description: "Create a text file of the workspace or replace it whole. To change a part of a file use fs.patch. The result is {files: [{path, action, added, removed}], diff}.",
			args: []arg{
				needed("path", "string", "file, relative to the workspace; missing folders are made"),
				needed("text", "string", "the whole text of the file"),
			},
			destructive: true, idempotent: true, previews: true, result: changeResult{}, run: o.write,
		},
		{
			name: "fs.move",
			description: "Move or rename a file or a folder of the workspace. Refused where the new path exists. " +
				"The result is {files: [{path, action, from}], diff}.",
			args: []arg{
				needed("from", "string", "file or folder, relative to the workspace"),
				needed("to", "string", "its whole new path; missing folders are made"),
			},
			destructive: true, previews: true, result: changeResult{}, run: o.move,
		},
		{
			name:        "fs.mkdir",
			description: "Make a folder in the workspace, with those above it. One that exists is no fault. The result is {files: [{path, action, folder}], diff}.",
			args:        []arg{needed("path", "string", "folder, relative to the workspace")},
			idempotent:  true, previews: true, result: changeResult{}, run: o.mkdir,
		},
		{
			name: "fs.remove",
			description: "Remove a file or an empty folder of the workspace; a folder with content only where recursive is true. " +
				"The result is {files: [{path, action, removed}], diff}.",
			args: []arg{
				needed("path", "string", "file or folder, relative to the workspace"),
				optional("recursive", "boolean", "remove a folder with all that is in it"),
			},
			destructive: true, previews: true, result: changeResult{}, run: o.remove,
		},
	}
}
