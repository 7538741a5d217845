// Package panetest holds what tests of several panes share: looks, runs, the
// events of whole sessions and the text of what was drawn.
//
// Only tests import it; it imports draw and the core. Start with [Story] and [Driver].
package panetest
