// Package code holds the operators code.*: they find, read and sum up source code,
// and work out renames and replacements as diffs. None of them changes a file.
//
// What is known of source text lies below: source by words in any language, lsp by
// language servers, golang by types where gopls is not installed, digest for
// summaries. Beside these it imports op, tree, grep and change.
// Start reading at [Operators.Tools].
package code
