package telling

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
)

// Seconds is a short duration for a row: 0.4s, 12.3s, 2:05.
func Seconds(d time.Duration) string {
	if d < 100*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return ClockTime(d)
}

// Ticking is how long something that goes on has taken so far, in whole seconds:
// tenths would be sent anew with every frame, for every step that runs.
func Ticking(d time.Duration) string {
	if d < 100*time.Second {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return ClockTime(d)
}

// ClockTime is a duration as minutes and seconds: 0:41, 12:05, 1:02:03.
func ClockTime(d time.Duration) string {
	s := int(d.Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// DoneIn is how long something took that is done: 12ms, 4.2s.
func DoneIn(ms int64) string {
	if ms < 1000 {
		return fmt.Sprintf("%dms", ms)
	}
	return Milliseconds(ms)
}

// Milliseconds is a stored duration as seconds writes it.
func Milliseconds(ms int64) string { return Seconds(time.Duration(ms) * time.Millisecond) }

// Tokens is a count of tokens that were used: 412, 2.0k, 12.4k, 128k.
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

// WindowSize is the size of a context window in tokens: 8k, 40k, 32.5k.
func WindowSize(n int) string {
	if n >= 1024 && n%1024 == 0 {
		return fmt.Sprintf("%dk", n/1024)
	}
	return strings.Replace(Tokens(n), ".0k", "k", 1)
}

// Shortly is a time that may be very short.
func Shortly(d time.Duration) string { return DoneIn(d.Milliseconds()) }

// BudgetWords says how much of a budget is used: steps 3/12, time 0:41/15:00.
func BudgetWords(b agent.Budget) string {
	words := map[string]string{
		event.GuardToolCalls: "calls", event.GuardDiscovery: "reading calls", event.GuardExecution: "changing calls",
	}
	name := cmp.Or(words[b.Guard], b.Guard)
	switch b.Guard {
	case event.GuardTime:
		ms := func(n int64) string { return ClockTime(time.Duration(n) * time.Millisecond) }
		return name + " " + ms(b.Used) + "/" + ms(b.Limit)
	case event.GuardTokens:
		return name + " " + Tokens(int(b.Used)) + "/" + Tokens(int(b.Limit))
	default:
		return fmt.Sprintf("%s %d/%d", name, b.Used, b.Limit)
	}
}

// Undone counts the files and folders that an undo puts back.
func Undone(u event.Undo) string {
	files, folders := 0, 0
	for _, f := range u.Files {
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
