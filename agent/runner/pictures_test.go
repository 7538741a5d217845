package runner_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/agent/store/journal"
	picturefile "replan/internal/picture"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// gallery knows pictures of a folder by their names.
type gallery struct {
	scriptedHelp
	dir string
}

func (g *gallery) Mention(_ context.Context, name string) (prompt.Mention, error) {
	f, err := picturefile.At(filepath.Join(g.dir, name))
	kept := plan.Attachment{File: f.Path, Type: f.Type, Bytes: f.Bytes, SHA256: f.SHA256}
	return prompt.Mention{Name: name, Bytes: f.Bytes, Picture: &prompt.Picture{Attachment: kept, Width: f.Width, Height: f.Height}}, err
}

func (g *gallery) History() (session.History, error) { return session.History{}, nil }

// shows returns a session that can attach shot.png and others, whose journals are in dir.
func shows(t *testing.T, vision bool, change func(*stage)) (s *stage, g *gallery, journals journal.Folder) {
	t.Helper()
	g, journals = &gallery{dir: t.TempDir()}, journal.Folder{Dir: t.TempDir()}
	var content bytes.Buffer
	if err := png.Encode(&content, image.NewGray(image.Rect(0, 0, 64, 48))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shot.png", "1.png", "2.png", "3.png", "4.png"} {
		if err := os.WriteFile(filepath.Join(g.dir, name), append(content.Bytes(), name...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, policy.ApproveAll, func(s *stage) {
		s.model.info.Vision, s.model.info.ContextWindow, s.model.info.Chats = vision, 32768, true
		opened := map[string]int{}
		s.open = func(kind string) runner.Journal {
			id := kind
			if opened[kind]++; opened[kind] > 1 {
				id = fmt.Sprint(kind, opened[kind])
			}
			j, err := journals.Create(id)
			if err != nil {
				t.Error(err)
			}
			return j
		}
		s.config = func(c *runner.Config) { c.InputHelp = g }
		if change != nil {
			change(s)
		}
	})
	return s, g, journals
}

// returned reads events until a message comes back, which must happen before its answer.
func returned(t *testing.T, s *stage) session.Returned {
	t.Helper()
	for e := range s.Events() {
		s.seen = append(s.seen, e)
		switch d := e.Data.(type) {
		case session.Returned:
			return d
		case event.ChatReply:
			t.Fatalf("it was answered: %+v", d)
		}
	}
	t.Fatal("the session ended")
	return session.Returned{}
}

func TestAttachedPictureIsKeptWithItsRunAndSeenInEachRequest(t *testing.T) {
	s, g, journals := shows(t, true, nil)
	s.Send(session.Submit{Text: "rebuild the page in @shot.png"})
	user := until[event.ChatUser](t, s)
	if len(user.Mentions) != 1 || filepath.Dir(user.Mentions[0].Picture.File) != filepath.Join(journals.Dir, "session.values") {
		t.Fatalf("the message has %+v", user.Mentions)
	}
	until[event.ChatReply](t, s)
	// The file of the user may be gone when the run is resumed or replayed.
	if err := os.Remove(filepath.Join(g.dir, "shot.png")); err != nil {
		t.Fatal(err)
	}
	events, err := journals.Read("run")
	if err != nil {
		t.Fatal(err)
	}
	kept := events[0].Data.(event.RunStarted).Prompting.Mentions[0].Picture
	if filepath.Dir(kept.File) != filepath.Join(journals.Dir, "run.values") || kept.Width != 64 || kept.Type != "image/png" {
		t.Errorf("the run has %+v", kept)
	}
	if _, err := picturefile.Read(kept.File, kept.SHA256); err != nil {
		t.Errorf("the run lost its picture: %v", err)
	}
	if text, err := os.ReadFile(journals.Path("run")); err != nil || bytes.Contains(text, []byte("iVBOR")) {
		t.Errorf("the journal holds the picture: %v", err)
	}
	for _, purpose := range []prompt.Purpose{prompt.PurposeAnalysis, prompt.PurposePlan, prompt.PurposeSynthesis} {
		messages := s.model.requests(purpose)[0].Messages
		if images := messages[len(messages)-1].Images; len(images) != 1 || images[0] != kept.Attachment {
			t.Errorf("%s: shows %+v", purpose, images)
		}
	}
	s.Send(session.Submit{Text: "and now?"})
	until[event.ChatReply](t, s)
	before := 0
	for _, m := range s.model.requests(prompt.PurposeAnalysis)[1].Messages {
		before += len(m.Images)
	}
	if before != 1 {
		t.Errorf("the next turn shows %d pictures of the conversation", before)
	}
}

func TestModelWithoutVisionRefusesPicturesBeforeAnythingRuns(t *testing.T) {
	for name, c := range map[string]struct {
		models []prompt.ModelInfo
		says   string
	}{
		"none that sees": {nil, "m cannot see pictures: use a model with vision (such as qwen3-vl:4b, with `ollama pull qwen3-vl:4b`), or leave @shot.png out"},
		"some that see": {
			[]prompt.ModelInfo{{Name: "m", Chats: true}, {Name: "eyes", Vision: true, Chats: true}, {Name: "embeds", Vision: true}, {Name: "sight:2b", Vision: true, Chats: true}},
			"m cannot see pictures: use a model with vision (installed: eyes and sight:2b), or leave @shot.png out",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, journals := shows(t, false, func(s *stage) {
				was := s.config
				s.config = func(cfg *runner.Config) {
					was(cfg)
					cfg.Model = &shelved{model: s.model, list: c.models}
				}
			})
			s.Send(session.Submit{Text: "what is in @shot.png"})
			back := returned(t, s)
			if string(back.Reason) != c.says || back.Text != "what is in @shot.png" {
				t.Errorf("got %+v", back)
			}
			s.shut()
			if len(s.model.seen) > 0 {
				t.Errorf("the model was asked %d times", len(s.model.seen))
			}
			for _, e := range s.seen {
				if k := e.Data.Kind(); k == event.KindChatUser || k == event.KindRunStarted {
					t.Errorf("there is a %s", k)
				}
			}
			if _, err := os.Stat(filepath.Join(journals.Dir, "session.values")); err == nil {
				t.Error("the refused picture is kept")
			}
		})
	}
}

func TestMessageAttachesNoMorePicturesThanAModelIsShown(t *testing.T) {
	s, _, _ := shows(t, true, nil)
	s.Send(session.Submit{Text: "compare @1.png @2.png @3.png @4.png @shot.png"})
	if back := returned(t, s); !strings.Contains(string(back.Reason), "at most 4 pictures: leave some of the 5 out") {
		t.Errorf("got %q", back.Reason)
	}
}

func TestPlannerThatDoesNotSeeIsNamedAndTheRunGoesOn(t *testing.T) {
	s, _, _ := shows(t, true, func(s *stage) {
		s.model.others = map[string]prompt.ModelInfo{"planner": {Name: "planner", ContextWindow: 32768}}
		was := s.config
		s.config = func(c *runner.Config) {
			was(c)
			c.Prompting.Models.Planner.Name = "planner"
		}
	})
	s.Send(session.Submit{Text: "rebuild the page in @shot.png"})
	if reply := until[event.ChatReply](t, s); reply.Status != event.StatusCompleted {
		t.Errorf("the run ended with %+v", reply)
	}
	const want = "planner cannot see @shot.png, and plans without; m, which answers, sees it"
	if !slices.ContainsFunc(s.seen, func(e event.Event) bool { n, ok := e.Data.(event.Note); return ok && string(n.Text) == want }) {
		t.Errorf("no note says %q", want)
	}
}

func TestPicturesNeedAModel(t *testing.T) {
	s, _, _ := shows(t, false, func(s *stage) {
		s.model.info, s.model.err = prompt.ModelInfo{}, fmt.Errorf("no Ollama answers: start it: %w", prompt.ErrNoModel)
	})
	s.Send(session.Submit{Text: "what is in @shot.png"})
	if back := returned(t, s); back.Text != "what is in @shot.png" || string(back.Reason) != "no model sees @shot.png: no Ollama answers: start it: no model; or leave @shot.png out" {
		t.Errorf("got %+v", back)
	}
}

func TestWhatAModelReadFromAPictureIsNotCalledUnsupported(t *testing.T) {
	for goal, want := range map[string]bool{"write down what @shot.png says": false, "write down what it says": true} {
		s, _, _ := shows(t, true, func(s *stage) { s.model.replies[prompt.PurposeSynthesis] = "It says 2417 and `totalDue`." })
		s.Send(session.Submit{Text: goal})
		if reply := until[event.ChatReply](t, s); strings.Contains(string(reply.Text), "No result shows") != want {
			t.Errorf("%s: got %q", goal, reply.Text)
		}
	}
}

func TestWindowGrowsForThePicturesOfAGoal(t *testing.T) {
	for goal, want := range map[string]int{"compare @1.png @2.png @3.png @4.png": 32768, "compare them": 8192} {
		s, _, _ := shows(t, true, func(s *stage) {
			s.model.info.ContextWindow, s.model.info.Longest = 8192, 65536
			was := s.config
			s.config = func(c *runner.Config) {
				was(c)
				c.Model = &grower{model: s.model, most: 32768}
			}
		})
		s.Send(session.Submit{Text: goal})
		if started := until[event.RunStarted](t, s); started.Prompting.ContextWindow != want {
			t.Errorf("%s: the window has %d tokens, want %d", goal, started.Prompting.ContextWindow, want)
		}
	}
}
