// Package notify alerts a user who looks elsewhere: it rings the terminal's bell
// and shows a notification where the terminal supports one.
//
// It imports Bubble Tea and internal/untrusted alone. Start with [Notifier].
package notify
