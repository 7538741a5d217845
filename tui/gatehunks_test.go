package tui_test

import (
	"fmt"
	"strings"

	"replan/agent/event"
	"replan/tui/panetest"
)

// changesManyFiles is a run whose gate changes two places of each of three files, one screen
// apart.
func changesManyFiles(s *story) *story {
	gate := panetest.HandlerGate()
	gate.Diff = ""
	for _, file := range []string{"a.go", "b.go", "c.go"} {
		gate.Diff += fmt.Sprintf("--- a/%s\n+++ b/%s\n", file, file)
		for i, part := range []string{"first", "second"} {
			gate.Diff += fmt.Sprintf("@@ -%d,40 +%d,40 @@ %s of %s\n-a\n+b\n%s", 1+i*100, 1+i*100, part, file, strings.Repeat(" same\n", 39))
		}
	}
	s.Branching().Run(event.StepCompleted{Index: "2", Attempt: 1, MS: 410, Result: "package auth\n"}).
		After(150).Run(event.StepCompleted{Index: "3", Attempt: 1, MS: 560, Result: "package auth\n"})
	return s.After(900).Run(gate)
}
