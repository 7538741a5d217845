// Package code implements the operators code.*: they find, read and summarize
// source code, and compute renames and replacements as diffs. None of them
// changes a file.
//
// The packages below analyze source text: source by words in any language, lsp
// with language servers, golang by types if gopls is not installed, digest for
// summaries. Besides these it imports op, tree, grep and change. Start reading
// at [Operators.Tools].
package code
