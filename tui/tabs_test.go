package tui_test

import (
	"testing"

	"replan/agent/event"
	"replan/tui"
)

func TestTabsInCodeOfAnswersIndent(t *testing.T) {
	s := open(t, tui.Options{}, 100, 36).show(newStory().Greeted().Session(event.ChatUser{Text: "x"}, event.ChatReply{
		Text: "```go\nfunc A() {\n\tif x {\n\t\ty()\n```\n\n```diff\n@@ -1,2 +1,2 @@\n \tif x {\n-\t\ty()\n+\t\tz()\n```\n",
	}))
	for _, want := range []string{"│ func A() {", "│     if x {", "│         y()", "│ -       y()", "│ +       z()"} {
		s.wants(want)
	}
}
