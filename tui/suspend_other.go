//go:build !unix

package tui

import tea "charm.land/bubbletea/v2"

// suspend does nothing: the key is refused before.
func suspend() tea.Msg { return nil }
