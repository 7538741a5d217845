// Package transcript writes a conversation as Markdown: messages, plans with the
// outcome of their steps, decisions, and the reasons for revisions. It omits text
// that looks like a secret.
//
// Start with [Markdown]. Its words come from telling and its drawings of plans from
// plantext. No other package of tui imports it.
package transcript
