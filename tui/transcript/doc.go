// Package transcript writes a conversation as Markdown: messages, plans with the
// outcome of their steps, decisions, and the reasons for revisions. It omits text
// that looks like a secret.
//
// Start with [Markdown]. What happened comes from story, and its drawings of plans from
// plantext. No other package of tui imports it.
package transcript
