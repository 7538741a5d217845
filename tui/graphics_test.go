package tui_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/themes"
	"replan/tui"
)

// album is a session whose files are all one picture.
type album struct{ *fakeSession }

func (album) Picture(_ context.Context, of plan.Attachment, width, height int) (session.Picture, error) {
	return session.Picture{Of: of, Width: 640, Height: 480, Pixels: opaque(min(640, width), min(480, height))}, nil
}

// graphic is a program in a terminal, with all that it wrote so far.
type graphic struct {
	t     *testing.T
	keys  *io.PipeWriter
	leave context.CancelFunc
	ended chan error

	mu      sync.Mutex
	written sync.Cond
	out     bytes.Buffer
	before  int // length when the test last typed
}

func (g *graphic) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.written.Broadcast()
	return g.out.Write(p)
}

// wants waits for a text in the output since the test last typed.
func (g *graphic) wants(text string) *graphic {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !strings.Contains(g.out.String()[g.before:], text) {
		g.written.Wait()
	}
	return g
}

// types sends what the terminal answers or the user types.
func (g *graphic) types(text string) *graphic {
	g.mu.Lock()
	g.before = g.out.Len()
	g.mu.Unlock()
	if _, err := g.keys.Write([]byte(text)); err != nil {
		g.t.Error(err)
	}
	return g
}

// all returns all output once the program has ended.
func (g *graphic) all() string {
	if err := <-g.ended; err != nil {
		g.t.Error(err)
	}
	return g.out.String()
}

// aa is the file of a picture.
func aa() plan.Attachment {
	return plan.Attachment{File: "/state/aa.png", Type: "image/png", Bytes: 70, SHA256: "aa"}
}

// pictured is a run whose second step has a picture as its result.
func pictured(kept plan.Attachment) *story {
	return newStory().branching().run(event.StepCompleted{Index: "2", Attempt: 1, MS: 410, Result: "drawn", Beside: plan.Beside{Attachments: []plan.Attachment{kept}}})
}

// inGraphic runs a screen in such a terminal: it shows the run, or replays it.
func inGraphic(t *testing.T, term string, st *story, replays bool) *graphic {
	s := album{newFakeSession()}
	o := tui.Options{Theme: themes.Dark, Now: func() time.Time { return st.now }}
	if replays {
		o.Replay, o.Recorded = true, st.events
	} else {
		for _, e := range st.events {
			s.events <- e
		}
	}
	in, keys := io.Pipe()
	ctx, leave := context.WithCancel(context.Background())
	g := &graphic{t: t, keys: keys, leave: leave, ended: make(chan error, 1)}
	g.written.L = &g.mu
	t.Cleanup(func() { leave(); _ = keys.Close() })
	go func() {
		g.ended <- tui.Run(ctx, s, o, tea.WithInput(in), tea.WithOutput(g),
			tea.WithWindowSize(120, 48), tea.WithEnvironment([]string{"TERM=" + term}), tea.WithColorProfile(colorprofile.TrueColor), tea.WithoutSignals())
	}()
	return g
}

const (
	query       = "\x1b_Gi=31,"
	agreed      = "\x1b_Gi=31;OK\x1b\\\x1b[6;20;10t"
	placed      = "\x1b_Ga=p,U=1,q=2,i="
	deleted     = "\x1b_Ga=d,d=I,q=2,i="
	placeholder = "\U0010EEEE"
	leaves      = "\x1b[?1049l" // the alternate screen
)

func TestKittyDrawsThePictureWhileItsStepIsShown(t *testing.T) {
	g := inGraphic(t, "xterm-kitty", pictured(aa()), false)
	g.wants(query).wants("410ms").types(agreed)
	g.types("\tgj").wants(placed + "16,p=1,").wants(placeholder)
	g.types("k").wants(deleted + "16")
	g.types("j").wants(placed + "17,p=1,").wants(placeholder)
	g.leave()
	out := g.all()
	if end := out[strings.LastIndex(out, deleted):]; !strings.HasPrefix(end, deleted+"17") || !strings.Contains(end, leaves) {
		t.Errorf("the program ends with %q", end)
	}
	if n := strings.Count(out, "f=100"); n != 2 {
		t.Errorf("sent the picture %d times", n)
	}
}

func TestUnknownTerminalGetsNoGraphics(t *testing.T) {
	g := inGraphic(t, "xterm-256color", pictured(aa()), false).wants("410ms").types("\tgj").wants("▀")
	g.leave()
	if out := g.all(); strings.Contains(out, "\x1b_G") || strings.Contains(out, placeholder) {
		t.Error("graphics were sent")
	}
}

func TestReplayDrawsThePicturesOfItsRun(t *testing.T) {
	var content bytes.Buffer
	if err := png.Encode(&content, opaque(40, 40)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(path, content.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content.Bytes())
	kept := plan.Attachment{File: path, Type: "image/png", Bytes: content.Len(), SHA256: hex.EncodeToString(sum[:])}
	g := inGraphic(t, "xterm-kitty", pictured(kept), true).wants(query).wants("410ms").types(agreed)
	g.types("\tgj").wants(placed + "16,p=1,c=4,r=2").wants(placeholder)
	g.leave()
	if out := g.all(); strings.LastIndex(out, deleted+"16") > strings.LastIndex(out, leaves) || !strings.Contains(out, deleted+"16") {
		t.Error("the picture is not deleted at the end")
	}
}
