package ollamatest_test

import (
	"bytes"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"

	"replan/agent/ollama/ollamatest"
)

// ask sends a message to a server and returns the reply's text and figures.
func ask(t *testing.T, server, message string) (said string, end api.ChatResponse, err error) {
	t.Helper()
	base, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	err = api.NewClient(base, http.DefaultClient).Chat(testContext(t), &api.ChatRequest{Model: "m", Messages: []api.Message{{Role: "user", Content: message}}}, func(line api.ChatResponse) error {
		said += line.Message.Content
		end = line
		return nil
	})
	return said, end, err
}

// recorded asks a real server, which is a scripted one here, and returns the recording.
func recorded(t *testing.T, messages ...string) *ollamatest.Recording {
	t.Helper()
	real, err := ollamatest.Start(testContext(t), ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Text: "one two"}, {Text: "three"}, {Text: "four"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close() //nolint:errcheck // it has nothing to lose
	base, err := url.Parse(real.URL())
	if err != nil {
		t.Fatal(err)
	}
	recorder, err := ollamatest.Record(testContext(t), base, "m")
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range messages {
		if _, _, err := ask(t, recorder.URL(), message); err != nil {
			t.Fatal(err)
		}
	}
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := recorder.Recording().Bytes()
	if err != nil {
		t.Fatal(err)
	}
	recording, err := ollamatest.ReadRecording(data)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := recording.Bytes(); err != nil || !bytes.Equal(again, data) {
		t.Errorf("a recording that was read writes (%v)\n%s\nwant\n%s", err, again, data)
	}
	return recording
}

// play serves a recording.
func play(t *testing.T, script ollamatest.Script) string {
	t.Helper()
	server, err := ollamatest.Start(testContext(t), script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server.URL()
}

func TestRecordingRepliesAsTheModelDid(t *testing.T) {
	recording := recorded(t, "Goal: a", "Goal: b", "Goal: a")
	server := play(t, ollamatest.Script{Recording: recording})
	for _, c := range []struct{ message, want string }{{"Goal: b", "three"}, {"Goal: a", "one two"}, {"Goal: a", "four"}, {"Goal: a", "four"}} {
		said, end, err := ask(t, server, c.message)
		if err != nil || said != c.want || end.PromptEvalCount == 0 || end.EvalCount == 0 {
			t.Errorf("%s: got %q, %+v, %v; want %q", c.message, said, end.Metrics, err, c.want)
		}
	}
	if missed := recording.Missed(); len(missed) > 0 {
		t.Errorf("missed %q", missed)
	}
}

func TestChangedPromptSaysWhatDiffers(t *testing.T) {
	recording := recorded(t, "Read the file.\nBe brief.\nGoal: a")
	_, _, err := ask(t, play(t, ollamatest.Script{Recording: recording}), "Read the file.\nBe kind.\nGoal: a")
	if err == nil || !strings.Contains(err.Error(), "this request was not recorded: a prompt has changed since; record again with `just record-replies`") {
		t.Errorf("got %v", err)
	}
	if missed := recording.Missed(); len(missed) != 1 || !strings.Contains(missed[0], `"Be kind."`) {
		t.Errorf("missed %q", missed)
	}
}

func TestLooseRecordingRepliesByPurposeAndGoalOnce(t *testing.T) {
	server := play(t, ollamatest.Script{Recording: recorded(t, "Goal: a"), Loose: true, Replies: []ollamatest.Reply{{Text: "no more", Times: -1}}})
	for _, c := range []struct{ message, want string }{{"Much was said.\nGoal: a", "one two"}, {"More was said.\nGoal: a", "no more"}, {"Goal: b", "no more"}} {
		if said, _, err := ask(t, server, c.message); err != nil || said != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.message, said, err, c.want)
		}
	}
}

func TestRecordedRequestIsTheSameOnEveryMachine(t *testing.T) {
	here, there := filepath.Join(os.TempDir(), "replan-1", "pages"), filepath.Join(os.TempDir(), "replan-29", "pages")
	recording := recorded(t,
		"In "+here+", run r-20261129-143258-7f48b3 of 2026-11-29T14:32:58Z took 0.03s and 12 ms (\"duration_ms\":12) at commit 0123abc.\nGoal: a")
	said, _, err := ask(t, play(t, ollamatest.Script{Recording: recording}),
		"In "+there+", run r-20271130-000000-000000 of 2027-11-30T00:00:00Z took 1.25s and 7 ms (\"duration_ms\":9) at commit fedcba9.\nGoal: a")
	if err != nil || said != "one two" {
		t.Errorf("got %q, %v", said, err)
	}
}
