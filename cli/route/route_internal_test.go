package route

import (
	"strings"
	"testing"

	"replan/planning/intent"
	"replan/tui/plain"
)

func TestIntentIsShownWithItsStepsOnATerminal(t *testing.T) {
	const words = "rename authenticate to verify_user"
	var b strings.Builder
	writeIntent(plain.NewPrinter(&b, plain.Options{}), intent.Parse(words), intent.Facts{}.RouteWords(words, intent.Policy{}), false)
	for _, want := range []string{
		"rename  (refactor)\ntarget: authenticate\nnew name: verify_user\ncertainty: 0.85, sure enough to act on\n\n",
		"1. Find", "[code.references]", "[code.transform]", "\n\n◆ this step asks first: 4\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got\n%s\nwant it to contain %q", b.String(), want)
		}
	}
	b.Reset()
	writeRoute(plain.NewPrinter(&b, plain.Options{}), intent.Facts{}.RouteWords("sing me a song", intent.Policy{}), false)
	if want := "· no chain of operators fits these words: a model plans them\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
