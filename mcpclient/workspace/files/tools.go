package files

import (
	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/grep"
	"replan/mcpclient/workspace/op"
)

// Tools returns the tools for files.
func (o *Operators) Tools() []op.Tool {
	return []op.Tool{
		op.Op[readArgs, op.None]{
			Name:        "fs.read",
			Description: "Read a text file, or a range of its lines, as text.",
			ReadOnly:    true, Idempotent: true, Run: o.reader.read,
		}.Tool(),
		op.Op[listArgs, listResult]{
			Name:        "fs.list",
			Description: "List files and folders of the workspace, without what git ignores. The result is {path, entries: [{path, type, size}], truncated}.",
			ReadOnly:    true, Idempotent: true, Run: o.lister.list,
		}.Tool(),
		op.Op[statArgs, statResult]{
			Name: "fs.stat",
			Description: "Describe one file or folder of the workspace without reading it. " +
				"The result is {path, type, size, lines, mode, modified, sha256, binary}.",
			ReadOnly: true, Idempotent: true, Run: o.describer.stat,
		}.Tool(),
		op.Op[searchArgs, grep.Result]{
			Name: "fs.search",
			Description: "Search the text of all files, line by line. Skips what git ignores, and folders like node_modules unless path names them. " +
				"The result is {matches: [{path, line, text, before, after}], total, files, truncated, skipped, near, note}.",
			ReadOnly: true, Idempotent: true, Run: o.searcher.search,
		}.Tool(),
		op.Op[patchArgs, change.Result]{
			Name: "fs.patch",
			Description: "Change files: give path, old and new to replace a text (old must occur once unless all is true), or a unified diff. " +
				"All or nothing; files changed since they were read are refused. " +
				`Example: {"path": "auth/user.go", "old": "return nil", "new": "return err"}. ` +
				"The result is {files: [{path, action, added, removed}], diff}.",
			OneOf:       [][]string{{"path", "old", "new"}, {"diff"}},
			Destructive: true, Previews: true, Run: o.patcher.patch,
		}.Tool(),
		op.Op[writeArgs, change.Result]{
			Name:        "fs.write",
			Description: "Create or overwrite a text file. To change a part of a file use fs.patch. The result is {files: [{path, action, added, removed}], diff}.",
			Destructive: true, Idempotent: true, Previews: true, Run: o.patcher.write,
		}.Tool(),
		op.Op[moveArgs, change.Result]{
			Name: "fs.move",
			Description: "Move or rename a file or a folder of the workspace. Fails if the new path exists. " +
				"The result is {files: [{path, action, from}], diff}.",
			Destructive: true, Previews: true, Run: o.entries.move,
		}.Tool(),
		op.Op[mkdirArgs, change.Result]{
			Name:        "fs.mkdir",
			Description: "Create a folder in the workspace and its parents. An existing folder is no error. The result is {files: [{path, action, folder}], diff}.",
			Idempotent:  true, Previews: true, Run: o.entries.mkdir,
		}.Tool(),
		op.Op[removeArgs, change.Result]{
			Name: "fs.remove",
			Description: "Remove a file or an empty folder of the workspace; a folder with content only if recursive is true. " +
				"The result is {files: [{path, action, removed}], diff}.",
			Destructive: true, Previews: true, Run: o.entries.remove,
		}.Tool(),
	}
}
