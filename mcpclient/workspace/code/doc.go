// Package code implements the operators code.*: they find, read and summarize
// source code, compute renames and replacements as diffs, and remove, insert and
// comment declarations.
//
// The packages below analyze source text. They are source by words in any language, lsp
// with language servers, golang by types if gopls is not installed, digest for summaries.
// Besides these it imports op, tree, grep and change. Start reading at [Operators.Tools].
package code
