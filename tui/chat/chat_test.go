package chat

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/panetest"
)

// idlePane returns a chat without a run.
func idlePane(width, height int) *Pane {
	c := New(panetest.DarkLook())
	c.setSize(width, height)
	return c
}

// addConversation adds about that many lines to a chat: questions, answers with
// lists and code, remarks.
func addConversation(c *Pane, lines int) {
	for i := 0; i*20 < lines; i++ {
		c.Add(userBlock(c.Styles, untrusted.Text(fmt.Sprintf("question %d: what does the handler do with a token that has run out, and who notices?", i))))
		c.Add(c.prose.blocks(untrusted.Text(fmt.Sprintf("It **refuses** it, see `auth/handler%d.go`. The caller gets a plain 401 and nothing is written to the log, "+
			"which is why nobody noticed.\n\n- one place is the handler\n- the other is the helper\n- needle%d in the haystack\n\n"+
			"```go\nfunc refuse%d(w http.ResponseWriter) {\n\tif expired {\n\t\thttp.Error(w, \"unauthorized\", 401)\n\t}\n}\n```\n\nNothing else refers to it.\n", i, i, i)))...)
		c.Add(c.Note("info", fmt.Sprintf("a remark on answer %d", i)))
	}
}

func TestChatKeepsScrollPosition(t *testing.T) {
	for name, change := range map[string]func(*Pane){
		"line added":                func(c *Pane) { c.Add(c.Note("info", "more")) },
		"wider":                     func(c *Pane) { c.setSize(100, 12) },
		"narrower":                  func(c *Pane) { c.setSize(44, 12) },
		"distant lines dropped":     func(c *Pane) { c.Blocks[0].Forget() },
		"scrolled there and back":   func(c *Pane) { c.Scroll(37); c.Scroll(-37) },
		"lower, then as high again": func(c *Pane) { c.setSize(60, 4); c.View(); c.setSize(60, 12) },
		"without lines for a while": func(c *Pane) { c.setSize(60, 0); c.View(); c.setSize(60, 12) },
	} {
		t.Run(name, func(t *testing.T) {
			c := idlePane(60, 12)
			addConversation(c, 800)
			c.Scroll(400)
			first := c.first()
			change(c)
			if got := c.first(); got.Block != first.Block {
				t.Errorf("first block in view: got %d, want %d:\n%s", got.Block, first.Block, panetest.Stripped(c.View()))
			}
		})
	}
}

func TestScrollingShowsEveryLineOnce(t *testing.T) {
	c := idlePane(50, 7)
	addConversation(c, 200)
	var all []string
	for i := range c.Blocks {
		all = append(all, draw.Texts(c.LinesOf(i))...)
	}
	rapid.Check(t, func(r *rapid.T) {
		c.ToEnd()
		below := 0
		for range rapid.IntRange(0, 12).Draw(r, "moves") {
			n := rapid.IntRange(-40, 60).Draw(r, "lines")
			c.Scroll(n)
			below = min(max(below+n, 0), len(all)-7)
			want := all[len(all)-7-below : len(all)-below]
			if got := c.View(); panetest.Stripped(got) != panetest.Stripped(want) {
				r.Fatalf("%d lines from the end\n%s\nwant\n%s", below, panetest.Stripped(got), panetest.Stripped(want))
			}
			if n, exact := c.moreBelow(); n != below || !exact {
				r.Fatalf("got %d lines below, exact %v; want %d", n, exact, below)
			}
		}
	})
}

func TestOnlyVisibleBlocksAreDrawn(t *testing.T) {
	c := idlePane(60, 20)
	addConversation(c, 2000)
	c.View()
	drawn := func() (n int) {
		for _, b := range c.Blocks {
			if b.fresh {
				n++
			}
		}
		return n
	}
	if n := drawn(); n == 0 || n > 20 {
		t.Errorf("%d of %d blocks are drawn", n, len(c.Blocks))
	}
	c.setSize(90, 20)
	c.View()
	if n := drawn(); n > 40 {
		t.Errorf("after a resize %d of %d blocks are drawn", n, len(c.Blocks))
	}
}

func TestDistantLinesAreDropped(t *testing.T) {
	c := idlePane(60, 20)
	addConversation(c, 20_000)
	c.View()
	for range 1000 {
		c.Scroll(19)
		c.View()
	}
	kept := 0
	for _, b := range c.Blocks {
		kept += len(b.lines)
	}
	if kept != c.kept || kept > mostKept+nearBy*40 {
		t.Errorf("%d lines are kept, counted as %d", kept, c.kept)
	}
}

func TestTextAfterAWithdrawnOneBeginsAnew(t *testing.T) {
	c := idlePane(60, 20)
	turn := &turn{pane: c, prose: c.prose}
	turn.write("The calls are", "", time.Unix(0, 0))
	turn.withdraw()
	turn.write("All is done.", "", time.Unix(1, 0))
	if got := panetest.Stripped(c.View()); !strings.Contains(got, "All is done.") || strings.Contains(got, "The calls are") {
		t.Errorf("the chat shows\n%s", got)
	}
}

func TestStreamedAnswerIsDrawnInFixedParts(t *testing.T) {
	c := idlePane(70, 30)
	turn := &turn{pane: c, prose: c.prose}
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "Paragraph %d says something of `name%d` that is long enough to be broken once.\n\n", i, i)
	}
	for i := range 300 {
		if i == 0 {
			text.WriteString("```go\n")
		}
		fmt.Fprintf(&text, "var x%d = %d\n", i, i)
	}
	text.WriteString("```\n\n")
	for i := range 100 {
		fmt.Fprintf(&text, "%d. item %d\n", i+1, i)
	}
	for at := 0; at < text.Len(); at = min(at+97, text.Len()) {
		turn.text = text.String()[:at]
		turn.flow()
		if turn.open != nil {
			if n := len(turn.open.Typeset(70)); n > mostCode+listLines {
				t.Fatalf("%d lines are open at byte %d", n, at)
			}
		}
		if at == text.Len() {
			break
		}
	}
	turn.text, turn.done = text.String(), true
	turn.flow()
	if all := c.copying.all(); len(all) != 1 || all[0].Lines() != 300 || !strings.HasSuffix(all[0].Text, "var x299 = 299") {
		t.Errorf("got %d blocks of code", len(all))
	}
	whole := idlePane(70, 30)
	whole.Add(whole.prose.blocks(untrusted.Text(text.String()))...)
	for i := range whole.Blocks {
		if got, want := panetest.Stripped(draw.Texts(c.LinesOf(i))), panetest.Stripped(draw.Texts(whole.LinesOf(i))); got != want {
			t.Fatalf("part %d\n%s\nwant\n%s", i, got, want)
		}
	}
	if last := panetest.Stripped(draw.Texts(whole.LinesOf(len(whole.Blocks) - 1))); !strings.Contains(last, "100. item 99") {
		t.Errorf("the list ends with\n%s", last)
	}
}

func TestUnbrokenTextHasNoWrapBreaks(t *testing.T) {
	for _, c := range []struct {
		name, text string
		width      int
	}{
		{"prose", "one two three four five six seven", 12},
		{"a long word", "see https://example.com/a/very/long/address/that/is/broken here", 20},
		{"several lines", "first of all\nthen the second line of it", 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := draw.Led("> ", panetest.DarkLook().Text, draw.Wrapped(c.text, c.width))
			if got := draw.Unbroken(lines); got != c.text {
				t.Errorf("got %q", got)
			}
		})
	}
	m := draw.NewMarkdown(panetest.DarkLook())
	got := draw.Unbroken(m.Lines("A **long** paragraph that has to be broken.\n\n- an item that goes on for long\n", 18))
	if want := "A long paragraph that has to be broken.\n\n• an item that goes on for long"; got != want {
		t.Errorf("got %q", got)
	}
	if got := draw.Unbroken(m.Code("go", "\tx := \"a long text that is broken\" // and more", 20, false)); got != "    x := \"a long text that is broken\" // and more" {
		t.Errorf("got %q", got)
	}
}

func TestSearchFindsTextInUndrawnBlocks(t *testing.T) {
	c := idlePane(60, 20)
	addConversation(c, 4000)
	c.View()
	c.find.start()
	for _, step := range []struct {
		query string
		n, of int
	}{
		{"NEEDLE7", 0, 0},
		{"needle7", 0, 11},
		{"needle70", 0, 1},
		{"plain 401 and nothing is", 0, 200},
		{"see auth/handler3.go. The caller", 0, 1},
		{"the caller", 0, 200},
		{"The caller", 0, 200},
	} {
		c.find.seek(step.query)
		if len(c.find.hits) != step.of {
			t.Fatalf("%q is found %d times, want %d", step.query, len(c.find.hits), step.of)
		}
		if step.of > 0 && !strings.Contains(strings.Join(strings.Fields(panetest.Stripped(c.View())), " "), fmt.Sprintf("%d of %d", c.find.at+1, step.of)) {
			t.Errorf("%q: the current match is not shown:\n%s", step.query, panetest.Stripped(c.View()))
		}
	}
}

func TestCurrentMatchIsInView(t *testing.T) {
	c := idlePane(44, 9)
	addConversation(c, 2000)
	c.View()
	c.find.start()
	c.find.seek("which is why nobody noticed") // broken by the width
	seen := map[int]bool{}
	for range len(c.find.hits) {
		c.find.step(1)
		seen[c.find.at] = true
		if text := strings.Join(strings.Fields(panetest.Stripped(c.View())), " "); !strings.Contains(text, "which is why nobody noticed") {
			t.Fatalf("match %d is not in view:\n%s", c.find.at, panetest.Stripped(c.View()))
		}
	}
	if len(seen) != len(c.find.hits) || len(seen) != 100 {
		t.Errorf("got %d of %d matches", len(seen), len(c.find.hits))
	}
}

func TestMatchIsHighlightedAcrossLineBreak(t *testing.T) {
	lines := draw.Wrapped("alpha beta gamma delta", 11)
	got := fmt.Sprint(litIn(lines, "beta gamma", true))
	if want := "[{0 6 10 0} {1 0 5 0}]"; got != want {
		t.Errorf("got %s of %q", got, draw.Texts(lines))
	}
}

// BenchmarkChat draws a chat after a key, by its length.
func BenchmarkChat(b *testing.B) {
	for _, lines := range []int{10, 1000, 10_000, 100_000} {
		chat := func(b *testing.B) *Pane {
			c := idlePane(106, 46)
			addConversation(c, lines)
			c.View()
			b.ReportAllocs()
			return c
		}
		b.Run(fmt.Sprintf("key/%d lines", lines), func(b *testing.B) {
			c := chat(b)
			for b.Loop() {
				c.Invalidate()
				c.View()
			}
		})
		b.Run(fmt.Sprintf("page up/%d lines", lines), func(b *testing.B) {
			c := chat(b)
			for b.Loop() {
				c.Scroll(45)
				if c.View(); c.top == (draw.Spot{}) {
					c.ToEnd()
				}
			}
		})
		b.Run(fmt.Sprintf("resize/%d lines", lines), func(b *testing.B) {
			c := chat(b)
			c.Scroll(lines / 2)
			for i := 0; b.Loop(); i++ {
				c.setSize(80+i%2*20, 46)
				c.View()
			}
		})
		b.Run(fmt.Sprintf("search/%d lines", lines), func(b *testing.B) {
			c := chat(b)
			c.find.start()
			for i := 0; b.Loop(); i++ {
				c.find.seek(fmt.Sprintf("needle%d", i%10))
				c.View()
			}
		})
	}
}

// BenchmarkChatStream draws each frame of a streaming answer, by its length so far.
func BenchmarkChatStream(b *testing.B) {
	paragraph := "It **refuses** it, see `auth/handler.go`. The caller gets a plain 401 and nothing is written to the log.\n\n"
	coded := "func refuse(w http.ResponseWriter, status int) {\n\thttp.Error(w, \"unauthorized\", status)\n}\n"
	for name, text := range map[string]string{"prose": paragraph, "code": coded} {
		for _, size := range []int{1 << 10, 50 << 10, 500 << 10} {
			b.Run(fmt.Sprintf("%s/%d KB", name, size>>10), func(b *testing.B) {
				c := idlePane(106, 46)
				turn := &turn{pane: c, prose: c.prose}
				whole := strings.Repeat(text, size/len(text)+1)
				if name == "code" {
					whole = "```go\n" + whole
				}
				turn.received.WriteString(whole[:size])
				turn.text = turn.received.String()
				turn.flow()
				c.View()
				for i := 0; b.Loop(); i++ {
					turn.received.WriteByte(whole[i%size])
					turn.text = turn.received.String()
					turn.flow()
					c.View()
				}
			})
		}
	}
}

// TestStreamedMarkdownEqualsWhole streams a text in pieces of any
// size.
func TestStreamedMarkdownEqualsWhole(t *testing.T) {
	text := "# Head\n\nA paragraph that **runs** on.\n\n- one\n- two\n\n  still two\n\n  ```sh\n  ls\n\n  pwd\n  ```\n\n```go\na := 1\n\nb := 2\n```\n\nThen `more`.\n\n1. x\n\n2. y\n\nThe end.\n"
	drawn := func(c *Pane) string {
		var lines []string
		for i := range c.Blocks {
			lines = append(lines, draw.Texts(c.LinesOf(i))...)
		}
		return ansi.Strip(strings.Join(lines, "\n"))
	}
	whole := idlePane(40, 20)
	whole.Add(whole.prose.blocks(untrusted.Text(text))...)
	want := drawn(whole)
	if glamour := panetest.Stripped(draw.Texts(whole.Markdown.Lines(text, 40))); panetest.Stripped(strings.Split(want, "\n")) != glamour {
		t.Fatalf("in parts\n%s\nas a whole\n%s", want, glamour)
	}
	rapid.Check(t, func(r *rapid.T) {
		c := idlePane(40, 20)
		turn := &turn{pane: c, prose: c.prose}
		for at := 0; at < len(text); {
			at = min(at+rapid.IntRange(1, 20).Draw(r, "piece"), len(text))
			turn.text = text[:at]
			turn.flow()
			drawn(c)
		}
		turn.done = true
		turn.flow()
		if got := drawn(c); got != want {
			r.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}
