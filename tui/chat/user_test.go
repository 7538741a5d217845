package chat

import (
	"fmt"
	"strings"
	"testing"

	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/panetest"
)

func TestLongMessageIsCollapsed(t *testing.T) {
	for count, want := range map[int]string{1: "", linesOfMessage + 1: "", linesOfMessage + 2: "2 more lines", 2000: "1990 more lines"} {
		lines := make([]string, count)
		for i := range lines {
			lines[i] = fmt.Sprintf("line %d.", i+1)
		}
		block := userBlock(panetest.DarkLook(), untrusted.Text(strings.Join(lines, "\n")))
		got := panetest.Stripped(draw.Texts(block.Typeset(60)))
		if last := fmt.Sprintf("line %d.", count); strings.Contains(got, last) != (want == "") || !strings.Contains(got, want) || block.folds("") != (want != "") {
			t.Errorf("%d lines are shown as\n%s", count, got)
		}
		if want == "" {
			continue
		}
		block.turn()
		if got := panetest.Stripped(draw.Texts(block.Typeset(60))); !strings.Contains(got, lines[count-1]) {
			t.Errorf("expanded, %d lines are shown as\n%s", count, got)
		}
	}
}
