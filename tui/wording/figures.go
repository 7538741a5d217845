package wording

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
)

// Seconds formats a short duration for a row: 0.4s, 12.3s, 2:05.
func Seconds(d time.Duration) string {
	if d < 100*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return ClockTime(d)
}

// Ticking formats the elapsed time of ongoing work in whole seconds. Tenths would
// redraw every running step in every frame.
func Ticking(d time.Duration) string {
	if d < 100*time.Second {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return ClockTime(d)
}

// ClockTime formats a duration as minutes and seconds: 0:41, 12:05, 1:02:03.
func ClockTime(d time.Duration) string {
	s := int(d.Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// DoneIn formats the duration of finished work, given in milliseconds: 12ms, 4.2s.
func DoneIn(ms int64) string {
	if ms < 1000 {
		return fmt.Sprintf("%dms", ms)
	}
	return Milliseconds(ms)
}

// Milliseconds formats a stored duration like Seconds.
func Milliseconds(ms int64) string { return Seconds(time.Duration(ms) * time.Millisecond) }

// Ago formats an elapsed time in a few words: 5 min ago, 3 days ago.
func Ago(d time.Duration) string {
	const day, few = 24 * time.Hour, 10
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < day:
		return fmt.Sprintf("%d h %d min ago", int(d.Hours()), int(d.Minutes())%60)
	case d < few*day:
		return fmt.Sprintf("%d d %d h ago", int(d/day), int(d.Hours())%24)
	default:
		return english.Count(int(d/day), "day") + " ago"
	}
}

// Tokens formats a number of used tokens: 412, 2.0k, 12.4k, 128k.
func Tokens(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 99_950:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	default:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
}

// WindowSize formats the size of a context window in tokens: 8k, 40k, 32.5k. It
// returns "" for an unknown size.
func WindowSize(n int) string {
	if n <= 0 {
		return ""
	}
	if n >= 1024 && n%1024 == 0 {
		return fmt.Sprintf("%dk", n/1024)
	}
	return strings.Replace(Tokens(n), ".0k", "k", 1)
}

// TextSize formats a number of bytes of text: 12 bytes, 3.5 KB, 1.2 MB.
func TextSize(n int) string {
	const kilo = 1024
	switch {
	case n < kilo:
		return english.Count(n, "byte")
	case n < kilo*kilo:
		return strings.Replace(fmt.Sprintf("%.1f KB", float64(n)/kilo), ".0 ", " ", 1)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/kilo/kilo)
	}
}

// DiskSize formats a number of bytes on a disk: 640 MB, 5.2 GB.
func DiskSize(n int64) string {
	const mega, giga = 1e6, 1e9
	if n < giga {
		return fmt.Sprintf("%d MB", max((n+mega/2)/mega, 1))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/giga)
}

// Shortly formats a duration that may be very short.
func Shortly(d time.Duration) string { return DoneIn(d.Milliseconds()) }

// BudgetWords describes the used part of a budget: "10 of 12 steps used",
// "time: 12:41 of 15:00 used".
func BudgetWords(b agent.Budget) string {
	words := map[string]string{
		event.GuardToolCalls: "calls", event.GuardDiscovery: "reading calls", event.GuardExecution: "changing calls",
	}
	name := cmp.Or(words[b.Guard], b.Guard)
	switch b.Guard {
	case event.GuardTime:
		ms := func(n int64) string { return ClockTime(time.Duration(n) * time.Millisecond) }
		return name + ": " + ms(b.Used) + " of " + ms(b.Limit) + " used"
	case event.GuardTokens:
		return Tokens(int(b.Used)) + " of " + Tokens(int(b.Limit)) + " " + name + " used"
	default:
		return fmt.Sprintf("%d of %d %s used", b.Used, b.Limit, name)
	}
}

// Undone counts the files and folders that an undo restores.
func Undone(restored []event.UndoneFile) string {
	files, folders := 0, 0
	for _, f := range restored {
		if f.Folder {
			folders++
		} else {
			files++
		}
	}
	switch {
	case folders == 0:
		return english.Count(files, "file")
	case files == 0:
		return english.Count(folders, "folder")
	default:
		return english.Count(files, "file") + " and " + english.Count(folders, "folder")
	}
}

// Excerpt formats text from outside as one line, truncated with a mark at width
// runes.
func Excerpt(s untrusted.Text, width int) string {
	runes := []rune(s.Line())
	if len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return string(runes)
}
