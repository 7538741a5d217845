package chat

import (
	"fmt"
	"strings"
	"testing"

	"replan/tui/draw"
	"replan/tui/panetest"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// idlePane is a chat in which nothing goes on.
func idlePane(width, height int) *Pane {
	c := New(panetest.DarkLook(), "", func(int) []string { return nil })
	c.SetSize(width, height)
	return c
}

// talkOf is a conversation of about that many lines: questions, answers with
// lists and code, remarks.
func talkOf(c *Pane, lines int) {
	for i := 0; i*20 < lines; i++ {
		c.Add(c.User(fmt.Sprintf("question %d: what does the handler do with a token that has run out, and who notices?", i)))
		c.Add(c.Prose(fmt.Sprintf("It **refuses** it, see `auth/handler%d.go`. The caller gets a plain 401 and nothing is written to the log, "+
			"which is why nobody noticed.\n\n- one place is the handler\n- the other is the helper\n- needle%d in the haystack\n\n"+
			"```go\nfunc refuse%d(w http.ResponseWriter) {\n\tif expired {\n\t\thttp.Error(w, \"unauthorised\", 401)\n\t}\n}\n```\n\nNothing else refers to it.\n", i, i, i))...)
		c.Add(c.Note("info", fmt.Sprintf("a remark on answer %d", i)))
	}
}

func TestTheChatKeepsThePlaceThatIsRead(t *testing.T) {
	for name, change := range map[string]func(*Pane){
		"something is added":             func(c *Pane) { c.Add(c.Note("info", "more")) },
		"it grows wider":                 func(c *Pane) { c.SetSize(100, 12) },
		"it grows narrower":              func(c *Pane) { c.SetSize(44, 12) },
		"lines far away are let go":      func(c *Pane) { c.Blocks[0].Forget() },
		"it is scrolled there and back":  func(c *Pane) { c.Scroll(37); c.Scroll(-37) },
		"it is made lower, then as high": func(c *Pane) { c.SetSize(60, 4); c.Lines(); c.SetSize(60, 12) },
	} {
		t.Run(name, func(t *testing.T) {
			c := idlePane(60, 12)
			talkOf(c, 800)
			c.Scroll(400)
			first := c.first()
			change(c)
			if got := c.first(); got.Block != first.Block {
				t.Errorf("block %d is first in view, which was %d:\n%s", got.Block, first.Block, panetest.Stripped(c.Lines()))
			}
		})
	}
}

func TestScrollingShowsEveryLineOnce(t *testing.T) {
	c := idlePane(50, 7)
	talkOf(c, 200)
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
			if got := c.Lines(); panetest.Stripped(got) != panetest.Stripped(want) {
				r.Fatalf("%d lines from the end\n%s\nwant\n%s", below, panetest.Stripped(got), panetest.Stripped(want))
			}
			if n, exact := c.MoreBelow(); n != below || !exact {
				r.Fatalf("%d lines are said to be below, exact %v; there are %d", n, exact, below)
			}
		}
	})
}

func TestOnlyWhatIsInViewIsDrawn(t *testing.T) {
	c := idlePane(60, 20)
	talkOf(c, 2000)
	c.Lines()
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
	c.SetSize(90, 20)
	c.Lines()
	if n := drawn(); n > 40 {
		t.Errorf("after a resize %d of %d blocks are drawn", n, len(c.Blocks))
	}
}

func TestLinesFarAwayAreLetGo(t *testing.T) {
	c := idlePane(60, 20)
	talkOf(c, 20_000)
	c.Lines()
	for range 1000 {
		c.Scroll(19)
		c.Lines()
	}
	kept := 0
	for _, b := range c.Blocks {
		kept += len(b.lines)
	}
	if kept != c.kept || kept > mostKept+nearBy*40 {
		t.Errorf("%d lines are kept, counted as %d", kept, c.kept)
	}
}

func TestAnAnswerIsDrawnInPartsThatStay(t *testing.T) {
	c := idlePane(70, 30)
	turn := &Turn{}
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
		turn.Text = text.String()[:at]
		c.Flow(turn)
		if open := turn.Blocks; len(open) > 0 {
			last := open[len(open)-1]
			if n := len(last.Typeset(70)); n > mostCode+listLines {
				t.Fatalf("%d lines are open at byte %d", n, at)
			}
		}
		if at == text.Len() {
			break
		}
	}
	turn.Text, turn.Done = text.String(), true
	c.Flow(turn)
	if all := c.AllCode(); len(all) != 1 || all[0].Lines() != 300 || !strings.HasSuffix(all[0].Text, "var x299 = 299") {
		t.Errorf("%d blocks of code", len(all))
	}
	whole := idlePane(70, 30)
	whole.Add(whole.Prose(text.String())...)
	for i := range whole.Blocks {
		if got, want := panetest.Stripped(draw.Texts(c.LinesOf(i))), panetest.Stripped(draw.Texts(whole.LinesOf(i))); got != want {
			t.Fatalf("part %d\n%s\nwant\n%s", i, got, want)
		}
	}
	if last := panetest.Stripped(draw.Texts(whole.LinesOf(len(whole.Blocks) - 1))); !strings.Contains(last, "100. item 99") {
		t.Errorf("the list ends with\n%s", last)
	}
}

func TestTheTextOfALineIsWithoutTheBreaksOfTheWidth(t *testing.T) {
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

func TestSearchFindsInBlocksThatWereNeverDrawn(t *testing.T) {
	c := idlePane(60, 20)
	talkOf(c, 4000)
	c.Lines()
	c.StartSearch()
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
		c.Seek(step.query)
		if len(c.Find.hits) != step.of {
			t.Fatalf("%q is found %d times, want %d", step.query, len(c.Find.hits), step.of)
		}
		if step.of > 0 && !strings.Contains(strings.Join(strings.Fields(panetest.Stripped(c.Lines())), " "), fmt.Sprintf("%d of %d", c.Find.at+1, step.of)) {
			t.Errorf("%q: it is not said which is shown:\n%s", step.query, panetest.Stripped(c.Lines()))
		}
	}
}

func TestTheMatchThatIsShownIsInView(t *testing.T) {
	c := idlePane(44, 9)
	talkOf(c, 2000)
	c.Lines()
	c.StartSearch()
	c.Seek("which is why nobody noticed") // broken by the width
	seen := map[int]bool{}
	for range len(c.Find.hits) {
		c.step(1)
		seen[c.Find.at] = true
		if text := strings.Join(strings.Fields(panetest.Stripped(c.Lines())), " "); !strings.Contains(text, "which is why nobody noticed") {
			t.Fatalf("match %d is not in view:\n%s", c.Find.at, panetest.Stripped(c.Lines()))
		}
	}
	if len(seen) != len(c.Find.hits) || len(seen) != 100 {
		t.Errorf("%d of %d matches were shown", len(seen), len(c.Find.hits))
	}
}

func TestAMatchIsLitOverABreak(t *testing.T) {
	lines := draw.Wrapped("alpha beta gamma delta", 11)
	got := fmt.Sprint(litIn(lines, "beta gamma", true))
	if want := "[{0 6 10 0} {1 0 5 0}]"; got != want {
		t.Errorf("got %s of %q", got, draw.Texts(lines))
	}
	line := Relit("\x1b[31mred and\x1b[m blue", 4, 7, panetest.DarkLook().Strong)
	if ansi.Strip(line) != "red and blue" || ansi.StringWidth(line) != 12 {
		t.Errorf("%q", line)
	}
}

// BenchmarkChat draws a chat after a key, by how long it is.
func BenchmarkChat(b *testing.B) {
	for _, lines := range []int{10, 1000, 10_000, 100_000} {
		chat := func(b *testing.B) *Pane {
			c := idlePane(106, 46)
			talkOf(c, lines)
			c.Lines()
			b.ReportAllocs()
			return c
		}
		b.Run(fmt.Sprintf("key/%d lines", lines), func(b *testing.B) {
			c := chat(b)
			for b.Loop() {
				c.Touch()
				c.Lines()
			}
		})
		b.Run(fmt.Sprintf("page up/%d lines", lines), func(b *testing.B) {
			c := chat(b)
			for i := 0; b.Loop(); i++ {
				c.Scroll(45)
				if c.Lines(); c.top == (Spot{}) {
					c.ToEnd()
				}
			}
		})
		b.Run(fmt.Sprintf("resize/%d lines", lines), func(b *testing.B) {
			c := chat(b)
			c.Scroll(lines / 2)
			for i := 0; b.Loop(); i++ {
				c.SetSize(80+i%2*20, 46)
				c.Lines()
			}
		})
		b.Run(fmt.Sprintf("search/%d lines", lines), func(b *testing.B) {
			c := chat(b)
			c.StartSearch()
			for i := 0; b.Loop(); i++ {
				c.Seek(fmt.Sprintf("needle%d", i%10))
				c.Lines()
			}
		})
	}
}

// BenchmarkChatStream draws each frame of an answer that streams in, by how long
// it is already.
func BenchmarkChatStream(b *testing.B) {
	paragraph := "It **refuses** it, see `auth/handler.go`. The caller gets a plain 401 and nothing is written to the log.\n\n"
	coded := "func refuse(w http.ResponseWriter, status int) {\n\thttp.Error(w, \"unauthorised\", status)\n}\n"
	for name, text := range map[string]string{"prose": paragraph, "code": coded} {
		for _, size := range []int{1 << 10, 50 << 10, 500 << 10} {
			b.Run(fmt.Sprintf("%s/%d KB", name, size>>10), func(b *testing.B) {
				c := idlePane(106, 46)
				turn := &Turn{}
				whole := strings.Repeat(text, size/len(text)+1)
				if name == "code" {
					whole = "```go\n" + whole
				}
				turn.Written.WriteString(whole[:size])
				turn.Text = turn.Written.String()
				c.Flow(turn)
				c.Lines()
				for i := 0; b.Loop(); i++ {
					turn.Written.WriteByte(whole[i%size])
					turn.Text = turn.Written.String()
					c.Flow(turn)
					c.Lines()
				}
			})
		}
	}
}
