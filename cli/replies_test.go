package cli_test

import (
	"flag"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/agent/ollama/ollamatest"
	"replan/cli"
	"replan/cli/demo"
	"replan/cli/fit"
	planfit "replan/planning/fit"
	"replan/planning/plan"
)

var recordReplies = flag.String("record-replies", "", "record the replies of real models on the Ollama server at this URL again")

// recordingTries is how often a task is recorded until its recording plays to the end: a
// busy server may exceed a time limit.
const recordingTries = 3

// The test plays what real models have replied to the tasks of replan fit, each in a
// session as replan fit makes it. A prompt that has changed since makes a recording
// stale: just record-replies records it again.
func TestRecordedReplies(t *testing.T) {
	for _, model := range []string{"coder", "half"} {
		t.Run(model, func(t *testing.T) {
			file := filepath.Join("testdata", "replies", model+".jsonl")
			if *recordReplies != "" {
				recordAgain(t, model, file, fitTasks(t)...)
			}
			recording := readRecording(t, file)
			var all strings.Builder
			for _, task := range fitTasks(t) {
				all.WriteString(play(t, recording, task))
			}
			if stale := recording.Missed(); len(stale) > 0 {
				t.Fatal(strings.Join(stale, "\n"))
			}
			golden.RequireEqual(t, all.String())
		})
	}
}

// The test plays the demo's second act, which a real model has answered.
func TestRecordedSecondAct(t *testing.T) {
	file := filepath.Join("demo", "replies.jsonl")
	if *recordReplies != "" {
		recordAgain(t, demo.RecordedModel, file, secondAct)
	}
	recording := readRecording(t, file)
	said := play(t, recording, secondAct)
	if stale := recording.Missed(); len(stale) > 0 {
		t.Fatal(strings.Join(stale, "\n"))
	}
	golden.RequireEqual(t, said)
}

// secondAct carries out the goals of the demo's second act.
func secondAct(t *testing.T, host, _ string) string {
	t.Helper()
	var out strings.Builder
	folder := temporary(t)
	err := cli.PlaySecondAct(t.Context(), host, folder, func(e event.Event) {
		switch d := e.Data.(type) {
		case event.RunStarted:
			fmt.Fprintf(&out, "goal: %s\n", d.Goal)
		case event.StepStarted:
			fmt.Fprintf(&out, "  step %s: %s %s\n", d.Index, d.Tool, plan.CanonicalJSON(d.Args))
		case event.ChatReply:
			fmt.Fprintf(&out, "  %s: %s\n", d.Status, d.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(out.String(), folder, "FOLDER")
}

// fitTasks returns the tasks of replan fit.
func fitTasks(t *testing.T) (list []recordedTask) {
	t.Helper()
	tasks, err := planfit.Tasks()
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		list = append(list, fitTask(task))
	}
	return list
}

// recordAgain writes a recording of tasks again. What the file holds of a task stays if it
// still plays to the end, so that the same command goes on after one that was stopped.
func recordAgain(t *testing.T, model, file string, tasks ...recordedTask) {
	t.Helper()
	before, _ := os.ReadFile(file) // the first time there is none
	var parts []*ollamatest.Recording
	for _, task := range tasks {
		parts = append(parts, still(t, before, task))
	}
	for i, task := range tasks {
		if parts[i] == nil {
			parts[i] = recordTask(t, model, task)
			writeRecording(t, parts, file)
		}
	}
	writeRecording(t, parts, file)
}

// still returns what a recording holds of a task, nil if it is stale.
func still(t *testing.T, data []byte, task recordedTask) *ollamatest.Recording {
	recording, err := ollamatest.ReadRecording(data)
	if err != nil {
		return nil
	}
	play(t, recording, task)
	if len(recording.Missed()) > 0 {
		return nil
	}
	return recording.Played()
}

// recordTask records what a model replies in a session.
func recordTask(t *testing.T, model string, task recordedTask) *ollamatest.Recording {
	host := *recordReplies
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	server, err := url.Parse(host)
	if err != nil {
		t.Fatal(err)
	}
	for try := 1; ; try++ {
		recorder, err := ollamatest.Record(t.Context(), server, model)
		if err != nil {
			t.Fatal(err)
		}
		said := task(t, recorder.URL(), model) + requestsLine(recorder.Recording().Len())
		if err := recorder.Close(); err != nil {
			t.Fatal(err)
		}
		recording := recorder.Recording()
		played := play(t, recording, task)
		missed := recording.Missed()
		if len(missed) == 0 && played != said {
			missed = []string{"it plays differently:\n" + played}
		}
		if len(missed) > 0 && try < recordingTries {
			t.Logf("recorded once more, since the recording does not play: %s\n%s", missed, said)
			continue
		}
		if len(missed) > 0 {
			t.Errorf("the recording does not play: %s\n%s", missed, said)
		}
		t.Logf("%s: %d replies\n%s", model, recording.Len(), said)
		return recording
	}
}

// recordedTask carries out a task with a model of the server at host, and returns what
// came of it.
type recordedTask func(t *testing.T, host, model string) string

// play carries out a task against a recording.
func play(t *testing.T, recording *ollamatest.Recording, task recordedTask) string {
	server, err := ollamatest.Start(t.Context(), ollamatest.Script{Recording: recording})
	if err != nil {
		t.Fatal(err)
	}
	said := task(t, server.URL(), recording.Model().Name) + requestsLine(len(server.Requests()))
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	return said
}

func requestsLine(n int) string { return fmt.Sprintf("  requests: %d\n", n) }

func readRecording(t *testing.T, file string) *ollamatest.Recording {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	recording, err := ollamatest.ReadRecording(data)
	if err != nil {
		t.Fatal(err)
	}
	return recording
}

// writeRecording writes the parts of a recording that are there.
func writeRecording(t *testing.T, parts []*ollamatest.Recording, file string) {
	t.Helper()
	var whole *ollamatest.Recording
	for _, part := range parts {
		switch {
		case whole == nil:
			whole = part
		case part != nil:
			whole = whole.With(part)
		}
	}
	data, err := whole.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// fitTask carries out a task as replan fit does.
func fitTask(task planfit.Task) recordedTask {
	return func(t *testing.T, host, model string) string {
		t.Helper()
		project, err := planfit.Project()
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(temporary(t), "greenhouse")
		if err := os.CopyFS(folder, project); err != nil {
			t.Fatal(err)
		}
		before := contents(t, folder)
		outcome, err := cli.Attempt(t.Context(), host, temporary(t), fit.Job{
			Model: model, Settings: planfit.Settings{Short: true}, Folder: folder, Goal: task.Goal,
		})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		reached := "reached"
		if missed := task.Missed(outcome.Answer, before, contents(t, folder)); missed != "" {
			reached = "missed, " + missed
		}
		fmt.Fprintf(&out, "%s: %s\n  goal: %s\n", task.ID, reached, task.Goal)
		for _, s := range outcome.Steps {
			fmt.Fprintf(&out, "  step %s: %s %s\n", s.Index, s.Tool, plan.CanonicalJSON(s.Args))
		}
		answer, _, _ := strings.Cut(strings.TrimSpace(outcome.Answer), "\n")
		fmt.Fprintf(&out, "  answer: %s\n", answer)
		if outcome.Error != "" {
			fmt.Fprintf(&out, "  error: %s\n", outcome.Error)
		}
		return strings.ReplaceAll(out.String(), folder, "FOLDER")
	}
}

// temporary returns a folder whose name is the same but for its end in every run, as
// the folders of replan fit and of the demo are.
func temporary(t *testing.T) string {
	folder, err := os.MkdirTemp("", "replan-replies-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
